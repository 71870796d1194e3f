// Command mpi-operator runs the v1alpha2 controller of kubeflow/mpi-operator v0.2.3 on the simulated cluster.
//
// Upstream's command listens on *:8080 for its health check, on a port that cannot be set, and takes part in a
// leader election. Two simulated clusters on one host would fight for that port, so this starts the same
// controller without either. The controller is upstream's, unchanged.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	clientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	mpischeme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	mpiinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	controller "github.com/kubeflow/mpi-operator/pkg/controllers/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog"
)

const version = "v0.2.3"

func main() {
	klog.InitFlags(nil)
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig of the operator's service account")
	deliveryImage := flag.String("kubectl-delivery-image", "", "image of the launcher's kubectl-delivery init container")
	namespace := flag.String("namespace", metav1.NamespaceAll, "the one namespace to watch; empty for all")
	threads := flag.Int("threadiness", 2, "number of reconcilers")
	printVersion := flag.Bool("version", false, "print the controller's version and exit")
	flag.Parse()
	if *printVersion {
		fmt.Println(version)
		return
	}
	if err := run(*kubeconfig, *deliveryImage, *namespace, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "mpi-operator:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, deliveryImage, namespace string, threads int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	jobs, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := jobs.KubeflowV1alpha2().MPIJobs(namespace).List(metav1.ListOptions{Limit: 1}); err != nil {
		return fmt.Errorf("cannot list mpijobs.kubeflow.org/v1alpha2: %w", err)
	}
	// The controller records events on MPIJobs, a kind the default scheme does not know.
	if err := mpischeme.AddToScheme(scheme.Scheme); err != nil {
		return err
	}

	core := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace))
	kubeflow := mpiinformers.NewSharedInformerFactoryWithOptions(jobs, 0, mpiinformers.WithNamespace(namespace))
	reconciler := controller.NewMPIJobController(
		kube, jobs, nil,
		core.Core().V1().ConfigMaps(),
		core.Core().V1().ServiceAccounts(),
		core.Rbac().V1().Roles(),
		core.Rbac().V1().RoleBindings(),
		core.Apps().V1().StatefulSets(),
		core.Batch().V1().Jobs(),
		nil,
		kubeflow.Kubeflow().V1alpha2().MPIJobs(),
		deliveryImage, "")
	core.Start(ctx.Done())
	kubeflow.Start(ctx.Done())
	fmt.Printf("mpi-operator %s: real controller on a simulated cluster\n", version)
	return reconciler.Run(threads, ctx.Done())
}
