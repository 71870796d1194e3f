# Two of the rules in rego, for the comparison in policies.py alone: gpu-limit's maximum and rdma-exactly-one.
package hpc

pods contains [i, "", object.spec.template.spec] if {
	some i, object in input
	object.kind == "Job"
}

pods contains [i, role, replica.template.spec] if {
	some i, object in input
	object.kind == "MPIJob"
	some role, replica in object.spec.mpiReplicaSpecs
}

deny contains [i, role, container.name, resource, "more than a machine has"] if {
	some [i, role, pod] in pods
	some container in pod.containers
	resource := "nvidia.com/gpu"
	to_number(container.resources.limits[resource]) > 8
}

deny contains [i, role, container.name, resource, "not exactly one"] if {
	some [i, role, pod] in pods
	some container in pod.containers
	some resource, quantity in container.resources.limits
	startswith(resource, "rdma/")
	to_number(quantity) != 1
}
