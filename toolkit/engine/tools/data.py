"""Files that are copied out of Go modules, as data: definitions, and what operators read or apply."""

from toolkit.engine.tools.records import Data, Source
from toolkit.engine.tools.versions import (
    CERT_MANAGER,
    CERT_MANAGER_MODULE,
    CERT_MANAGER_SUM,
    DRA_DRIVER,
    DRA_DRIVER_MODULE,
    DRA_DRIVER_SUM,
    GPU_OPERATOR_MODULE,
    GPU_OPERATOR_REVISION,
    JOBSET,
    JOBSET_MODULE,
    KUEUE,
    KUEUE_MODULE,
    KWOK,
    MPI_OPERATOR_V2BETA1,
    NFD,
    NFD_MODULE,
    OPENSHIFT_API,
    OPENSHIFT_API_SUM,
    PROMETHEUS_OPERATOR,
    PROMETHEUS_OPERATOR_SUM,
    TRAINER,
    TRAINER_MODULE,
)


def _manifests(name: str, module: str, checksum: str, folder: str, *, crds: tuple[str, ...]) -> Data:
    """Return what a controller's own installation applies; `crds` are a folder and the files in it."""
    parts = (crds, ("webhook", "manifests.yaml"), ("rbac", "role.yaml"))
    return Data(
        f"{name}-manifests",
        tuple(Source(module, checksum, f"{folder}/{inside}", tuple(files)) for inside, *files in parts),
        on_demand=True,
    )


DATA = (
    Data(
        "openshift-crds",
        (
            Source(
                OPENSHIFT_API,
                OPENSHIFT_API_SUM,
                "payload-manifests/crds",
                (
                    "0000_03_config-operator_01_securitycontextconstraints.crd.yaml",
                    "0000_80_machine-config_01_machineconfigs.crd.yaml",
                    "0000_80_machine-config_01_machineconfigpools-SelfManagedHA.crd.yaml",
                    "0000_80_machine-config_01_kubeletconfigs-Default.crd.yaml",
                ),
            ),
            Source(
                "github.com/operator-framework/api@v0.45.0",
                "h1:hkROwtsLH3oszp4IW+WsXEFSDgveSahHI7DKStOtrUI=",
                "crds",
                (
                    "operators.coreos.com_subscriptions.yaml",
                    "operators.coreos.com_operatorgroups.yaml",
                    "operators.coreos.com_clusterserviceversions.yaml",
                    "operators.coreos.com_installplans.yaml",
                    "operators.coreos.com_catalogsources.yaml",
                    "operators.coreos.com_operatorconditions.yaml",
                    "operators.coreos.com_operators.yaml",
                    "operators.coreos.com_olmconfigs.yaml",
                ),
            ),
            Source(
                PROMETHEUS_OPERATOR,
                PROMETHEUS_OPERATOR_SUM,
                "example/prometheus-operator-crd",
                ("monitoring.coreos.com_prometheusrules.yaml", "monitoring.coreos.com_servicemonitors.yaml"),
            ),
        ),
    ),
    Data(
        # 1.4 MB in two versions, so no cluster gets it at its start.
        "alertmanager-crds",
        (
            Source(
                PROMETHEUS_OPERATOR,
                PROMETHEUS_OPERATOR_SUM,
                "example/prometheus-operator-crd-full",
                ("monitoring.coreos.com_alertmanagerconfigs.yaml",),
            ),
        ),
    ),
    Data(
        # Of files that `./hpc site` writes for clusters, not of what the program declares.
        "image-mirror-crds",
        (
            Source(
                OPENSHIFT_API,
                OPENSHIFT_API_SUM,
                "payload-manifests/crds",
                (
                    "0000_10_config-operator_01_imagecontentsourcepolicies.crd.yaml",
                    "0000_10_config-operator_01_imagedigestmirrorsets.crd.yaml",
                    "0000_10_config-operator_01_imagetagmirrorsets.crd.yaml",
                ),
            ),
        ),
    ),
    Data(
        # Builds and image streams are served by a second API server, so there are no definitions of them.
        "openshift-openapi",
        (Source(OPENSHIFT_API, OPENSHIFT_API_SUM, "openapi", ("openapi.json",)),),
    ),
    Data(
        # The real definition, by which tests judge our own small one and our jobs.
        "mpi-operator-manifests",
        (
            Source(
                f"github.com/kubeflow/mpi-operator@v{MPI_OPERATOR_V2BETA1}",
                "h1:7PVtV31iX3LSVW0BqRQ64w/NYNfAgP86Bmua2OEi5lg=",
                "deploy/v2beta1",
                ("mpi-operator.yaml",),
            ),
        ),
    ),
    _manifests(
        "kueue",
        f"{KUEUE_MODULE}@v{KUEUE}",
        "h1:mPNzr37u0nwI7ikST5QQl5gg6EgtYOAvC9ZbTgywdN8=",
        "config/components",
        crds=(
            "crd/bases",
            *(
                f"kueue.x-k8s.io_{plural}.yaml"
                for plural in (
                    *("admissionchecks", "clusterqueues", "cohorts", "localqueues", "multikueueclusters"),
                    *("multikueueconfigs", "provisioningrequestconfigs", "resourceflavors", "topologies"),
                    *("workloadpriorityclasses", "workloads"),
                )
            ),
        ),
    ),
    _manifests(
        "jobset",
        f"{JOBSET_MODULE}@v{JOBSET}",
        "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ=",
        "config/components",
        crds=("crd/bases", "jobset.x-k8s.io_jobsets.yaml"),
    ),
    _manifests(
        "trainer",
        f"{TRAINER_MODULE}@v{TRAINER}",
        "h1:GsM80cgxnLnd8j8+lrX/Dpcvw7DYqpxkL0ni4XA/U7Y=",
        "manifests/base",
        crds=(
            "crds",
            *(
                f"trainer.kubeflow.org_{plural}.yaml"
                for plural in ("clustertrainingruntimes", "trainingruntimes", "trainjobs")
            ),
        ),
    ),
    Data(
        "nfd-crds",
        (
            Source(
                f"{NFD_MODULE}@v{NFD}",
                "h1:q5/qpyxrasI/F6838lflFNGAUszpMNRuFwornPLYdxQ=",
                "deployment/base/nfd-crds",
                ("nfd-api-crds.yaml",),
            ),
        ),
    ),
    Data(
        "cert-manager-manifests",
        (
            Source(
                f"{CERT_MANAGER_MODULE}@v{CERT_MANAGER}",
                CERT_MANAGER_SUM,
                "deploy/crds",
                (
                    *(f"acme.cert-manager.io_{plural}.yaml" for plural in ("challenges", "orders")),
                    *(
                        f"cert-manager.io_{plural}.yaml"
                        for plural in ("certificaterequests", "certificates", "clusterissuers", "issuers")
                    ),
                ),
            ),
        ),
        on_demand=True,
    ),
    Data(
        # Templates of Helm.
        "cert-manager-chart",
        (
            Source(
                f"{CERT_MANAGER_MODULE}@v{CERT_MANAGER}",
                CERT_MANAGER_SUM,
                "deploy/charts/cert-manager/templates",
                (
                    *(f"{prefix}rbac.yaml" for prefix in ("", "cainjector-", "webhook-")),
                    *(f"webhook-{kind}-webhook.yaml" for kind in ("mutating", "validating")),
                ),
            ),
        ),
        on_demand=True,
    ),
    Data(
        # What its image has at /opt/gpu-operator, and its bundle for OLM.
        "gpu-operator-files",
        tuple(
            Source(
                f"{GPU_OPERATOR_MODULE}@{GPU_OPERATOR_REVISION}",
                "h1:LoeqwWjR0h2WRyHXmyYCPVwM/dAdKKxjE8LzyyeuqHI=",
                folder,
                files,
            )
            for folder, files in (
                (".", ("assets", "manifests")),
                (
                    "bundle/manifests",
                    (
                        "gpu-operator-certified.clusterserviceversion.yaml",
                        "nvidia.com_clusterpolicies.yaml",
                        "nvidia.com_nvidiadrivers.yaml",
                    ),
                ),
            )
        ),
        on_demand=True,
    ),
    Data(
        # What the image of NVIDIA's driver has at /templates, and the definitions of its chart.
        "dra-driver-files",
        tuple(
            Source(f"{DRA_DRIVER_MODULE}@v{DRA_DRIVER}", DRA_DRIVER_SUM, folder, files)
            for folder, files in (
                (
                    "templates",
                    (
                        "compute-domain-daemon.tmpl.yaml",
                        "compute-domain-daemon-claim-template.tmpl.yaml",
                        "compute-domain-workload-claim-template.tmpl.yaml",
                    ),
                ),
                (
                    "deployments/helm/dra-driver-nvidia-gpu/crds",
                    (
                        "resource.nvidia.com_computedomains.yaml",
                        "resource.nvidia.com_computedomaincliques.yaml",
                    ),
                ),
            )
        ),
        on_demand=True,
    ),
    Data(
        "kwok-crds",
        (
            Source(
                f"sigs.k8s.io/kwok@v{KWOK}",
                "h1:+eGsNOIPapjsSzeZlOEcwbpyEVa2Vqlcafa0qIjaKV4=",
                "kustomize/crd/bases",
                ("kwok.x-k8s.io_logs.yaml",),
            ),
        ),
    ),
)
