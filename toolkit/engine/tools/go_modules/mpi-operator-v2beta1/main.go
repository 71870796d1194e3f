// Command mpi-operator-v2beta1 runs the v2beta1 controller of kubeflow/mpi-operator v0.8.2 on the simulated cluster.
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

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	clientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	mpischeme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	mpiinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

const version = "v0.8.2"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig of the operator's service account")
	namespace := flag.String("namespace", metav1.NamespaceAll, "the one namespace to watch; empty for all")
	threads := flag.Int("threadiness", 2, "number of reconcilers")
	qps := flag.Float64("kube-api-qps", 5, "requests a second")
	burst := flag.Int("kube-api-burst", 10, "requests at once")
	printVersion := flag.Bool("version", false, "print the controller's version and exit")
	flag.Parse()
	if *printVersion {
		fmt.Println(version)
		return
	}
	if err := run(*kubeconfig, *namespace, *threads, float32(*qps), *burst); err != nil {
		fmt.Fprintln(os.Stderr, "mpi-operator:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace string, threads int, qps float32, burst int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = qps, burst
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	jobs, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := jobs.KubeflowV2beta1().MPIJobs(namespace).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return fmt.Errorf("cannot list mpijobs.kubeflow.org/v2beta1: %w", err)
	}
	// The controller records events on MPIJobs, a kind the default scheme does not know.
	if err := mpischeme.AddToScheme(scheme.Scheme); err != nil {
		return err
	}

	objects := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace))
	kubeflow := mpiinformers.NewSharedInformerFactoryWithOptions(jobs, 0, mpiinformers.WithNamespace(namespace))
	reconciler, err := controller.NewMPIJobController(
		ctx, kube, jobs, nil, nil,
		objects.Core().V1().ConfigMaps(),
		objects.Core().V1().Secrets(),
		objects.Core().V1().Services(),
		objects.Batch().V1().Jobs(),
		objects.Core().V1().Pods(),
		objects.Scheduling().V1().PriorityClasses(),
		kubeflow.Kubeflow().V2beta1().MPIJobs(),
		&options.ServerOption{Namespace: namespace, ControllerRateLimit: 10, ControllerBurst: 100})
	if err != nil {
		return err
	}
	objects.Start(ctx.Done())
	kubeflow.Start(ctx.Done())
	fmt.Printf("mpi-operator %s: real controller on a simulated cluster\n", version)
	return reconciler.Run(threads, ctx.Done())
}
