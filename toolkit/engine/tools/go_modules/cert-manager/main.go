// Command cert-manager runs the controller, the webhook or the CA injector of cert-manager v1.21.2 on the simulated
// cluster.
//
// Upstream's three commands are Go modules of their own that no proxy serves, so this starts the same packages. It is
// one command, for linking three would triple that part of the build, and it takes part in no leader election and
// serves neither metrics nor health checks: two simulated clusters on one host would fight for their fixed ports.
// Issuers of ACME, Vault and Venafi call servers outside the cluster and would bring the clients of four clouds into
// the build: they are left out, and cert-manager calls such an issuer one that it has no constructor for.
//
// go.mod calls it a part of cert-manager's own path, without which Go lets nobody import the internal packages that the
// webhook is made of.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	webhookconfig "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/webhook"
	cmscheme "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
	"github.com/cert-manager/cert-manager/pkg/webhook/server"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const workers = 5 // of each controller: upstream's default

// Upstream's defaults: which annotations of a Certificate its requests get, and how long a failed one waits.
var (
	copied            = []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"}
	shortest, longest = time.Hour, 32 * time.Hour
)

func main() {
	// A set of its own: controller-runtime defines -kubeconfig in the common one.
	flags := flag.NewFlagSet("cert-manager", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "path of the kubeconfig of the pod's service account")
	namespace := flags.String("namespace", "cert-manager", "the pod's namespace, where ClusterIssuers have their Secrets")
	port := flags.Int("port", 0, "where the webhook listens, on loopback alone")
	names := flags.String("dns-names", "", "those that the webhook is called by, separated by commas")
	secret := flags.String("secret", "cert-manager-webhook-ca", "Secret of the CA of the webhook's certificate")
	printVersion := flags.Bool("version", false, "print cert-manager's version and exit")
	klog.InitFlags(flags)
	_ = flags.Set("v", "2") // as OpenShift's operator calls it
	_ = flags.Parse(os.Args[1:])
	if *printVersion {
		fmt.Println(util.AppVersion)
		return
	}
	ctrl.SetLogger(logf.Log)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parts := map[string]func(context.Context) error{
		"controller": func(ctx context.Context) error { return controllers(ctx, *kubeconfig, *namespace) },
		"webhook": func(ctx context.Context) error {
			return webhooks(ctx, *kubeconfig, *namespace, *port, *secret, strings.Split(*names, ","))
		},
		"cainjector": func(ctx context.Context) error { return injector(ctx, *kubeconfig) },
	}
	part, known := parts[flags.Arg(0)]
	if !known {
		fmt.Fprintln(os.Stderr, "cert-manager: say controller, webhook or cainjector")
		os.Exit(2)
	}
	if err := part(logf.NewContext(ctx, logf.Log, flags.Arg(0))); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

func controllers(ctx context.Context, kubeconfig, namespace string) error {
	made, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:         kubeconfig,
		KubernetesAPIQPS:   20,
		KubernetesAPIBurst: 50,
		IssuerOptions: controller.IssuerOptions{
			ClusterResourceNamespace: namespace, ClusterIssuerAmbientCredentials: true,
		},
		CertificateOptions: controller.CertificateOptions{
			CopiedAnnotationPrefixes:                 copied,
			CertificateRequestMinimumBackoffDuration: shortest,
			CertificateRequestMaximumBackoffDuration: longest,
		},
	})
	if err != nil {
		return err
	}
	shared, err := made.Build()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for name, construct := range controller.Known() {
		one, err := construct(made)
		if err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
		group.Go(func() error { return one.Run(workers, ctx) })
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return group.Wait()
}

func webhooks(ctx context.Context, kubeconfig, namespace string, port int, secret string, names []string) error {
	asked, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	asked.KubeConfig, asked.SecurePort, asked.MetricsListenAddress = kubeconfig, int32(port), "0"
	asked.TLSConfig.Dynamic.SecretNamespace, asked.TLSConfig.Dynamic.SecretName = namespace, secret
	asked.TLSConfig.Dynamic.DNSNames = names
	asked.MetricsTLSConfig = asked.TLSConfig
	return serve(ctx, *asked)
}

func serve(ctx context.Context, asked webhookconfig.WebhookConfiguration) error {
	made, err := webhook.NewCertManagerWebhookServer(logf.Log, asked, func(one *server.Server) { one.HealthzAddr = nil })
	if err != nil {
		return err
	}
	return made.Run(ctx)
}

func injector(ctx context.Context, kubeconfig string) error {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, cmscheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		if err := add(known); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(util.RestConfigWithUserAgent(config, "cainjector"), ctrl.Options{
		Scheme:  known,
		Cache:   cache.Options{ReaderFailOnMissingInformer: true},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	enabled := map[string]bool{}
	for _, name := range []string{
		cainjector.MutatingWebhookConfigurationName, cainjector.ValidatingWebhookConfigurationName,
		cainjector.APIServiceName, cainjector.CustomResourceDefinitionName,
	} {
		enabled[name] = true
	}
	asked := cainjector.SetupOptions{EnableCertificatesDataSource: true, EnabledReconcilersFor: enabled}
	if err := cainjector.RegisterAllInjectors(ctx, manager, asked); err != nil {
		return err
	}
	return manager.Start(ctx)
}
