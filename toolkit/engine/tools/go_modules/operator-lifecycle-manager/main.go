// Command operator-catalogues serves the catalogues of operators of a simulated cluster, as opm's registry pods do.
//
// On a real cluster each CatalogSource has a pod with an image of its own, which serves one catalogue by gRPC. This
// serves all catalogues of a cluster on loopback, each on a port of its own, from one file. Bundles are inline, with
// their manifests: OLM then needs no pod that unpacks them. Of the API it has what OLM v0.38.0 calls.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/version"
	"github.com/operator-framework/operator-registry/pkg/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// A catalogue has its bundles once for each channel that they are in.
type catalogue struct {
	api.UnimplementedRegistryServer
	Port     int            `json:"port"`
	Packages []*api.Package `json:"packages"`
	Bundles  []*api.Bundle  `json:"bundles"`
}

func (c *catalogue) ListPackages(_ *api.ListPackageRequest, stream api.Registry_ListPackagesServer) error {
	for _, offered := range c.Packages {
		if err := stream.Send(&api.PackageName{Name: offered.Name}); err != nil {
			return err
		}
	}
	return nil
}

func (c *catalogue) GetPackage(_ context.Context, request *api.GetPackageRequest) (*api.Package, error) {
	for _, offered := range c.Packages {
		if offered.Name == request.Name {
			return offered, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "no package %s", request.Name)
}

func (c *catalogue) ListBundles(_ *api.ListBundlesRequest, stream api.Registry_ListBundlesServer) error {
	for _, bundle := range c.Bundles {
		if err := stream.Send(bundle); err != nil {
			return err
		}
	}
	return nil
}

func (c *catalogue) GetBundle(_ context.Context, request *api.GetBundleRequest) (*api.Bundle, error) {
	for _, bundle := range c.Bundles {
		if bundle.PackageName == request.PkgName && bundle.ChannelName == request.ChannelName &&
			bundle.CsvName == request.CsvName {
			return bundle, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "no bundle %s in channel %s", request.CsvName, request.ChannelName)
}

func (c *catalogue) serve() error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterRegistryServer(server, c)
	healthv1.RegisterHealthServer(server, health.NewServer())
	return server.Serve(listener)
}

func read(file string) (map[string]*catalogue, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	catalogues := map[string]*catalogue{}
	return catalogues, json.Unmarshal(text, &catalogues)
}

func main() {
	file := flag.String("catalogues", "", "JSON file: name of a catalogue -> its port, packages and bundles")
	printVersion := flag.Bool("version", false, "print the version of OLM that this is built for, and exit")
	flag.Parse()
	if *printVersion {
		fmt.Println("operator-catalogues", version.OLMVersion)
		return
	}
	catalogues, err := read(*file)
	failed := make(chan error)
	for _, one := range catalogues {
		go func() { failed <- one.serve() }()
	}
	if err == nil {
		err = <-failed
	}
	fmt.Fprintln(os.Stderr, "operator-catalogues:", err)
	os.Exit(1)
}
