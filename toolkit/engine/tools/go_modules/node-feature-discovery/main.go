// Command nfd-workers runs the worker of Node Feature Discovery v0.18.3 for the nodes of a simulated cluster.
//
// Upstream's command serves the one machine that it runs on. This runs the same worker for one node after another,
// which takes one process instead of one a node. A line of standard input asks for a discovery: of which node, which
// folder stands for its file system, with which configuration, and as which pod. A line of standard output has what
// the worker logged, and why it failed. The worker is upstream's, but for paths that are relative to that folder.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
	worker "sigs.k8s.io/node-feature-discovery/pkg/nfd-worker"
	"sigs.k8s.io/node-feature-discovery/pkg/utils"
	"sigs.k8s.io/node-feature-discovery/pkg/version"
	"sigs.k8s.io/yaml"
)

// A request asks for one discovery. Paths are absolute, but for those below Root.
type request struct {
	Node       string `json:"node"`
	Namespace  string `json:"namespace"`
	Pod        string `json:"pod"`
	UID        string `json:"uid"`
	Root       string `json:"root"`
	Config     string `json:"config"`
	Kubeconfig string `json:"kubeconfig"`
}

type answer struct {
	Log   string `json:"log"`
	Error string `json:"error"`
}

func main() {
	printVersion := flag.Bool("version", false, "print the worker's version and exit")
	klog.InitFlags(nil)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := flag.Set(name, value); err != nil {
			fail(err)
		}
	}
	flag.Parse()
	if *printVersion {
		fmt.Println("nfd-workers", version.Get())
		return
	}
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			fail(err)
		}
		if err := answers.Encode(serve(asked)); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "nfd-workers:", err)
	os.Exit(1)
}

func serve(asked request) answer {
	var log bytes.Buffer
	klog.SetOutput(&log)
	err := discover(asked)
	klog.Flush()
	if err != nil {
		return answer{Log: log.String(), Error: err.Error()}
	}
	return answer{Log: log.String()}
}

func discover(asked request) error {
	for name, value := range map[string]string{
		"NODE_NAME":            asked.Node,
		"KUBERNETES_NAMESPACE": asked.Namespace,
		"POD_NAME":             asked.Pod,
		"POD_UID":              asked.UID,
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := os.Chdir(asked.Root); err != nil {
		return err
	}
	features, labels, err := sources(asked.Config)
	if err != nil {
		return err
	}
	one, err := worker.NewNfdWorker(worker.WithArgs(&worker.Args{
		ConfigFile: asked.Config,
		Kubeconfig: asked.Kubeconfig,
		Oneshot:    true,
		Overrides:  worker.ConfigOverrideArgs{FeatureSources: &features, LabelSources: &labels},
	}))
	if err != nil {
		return err
	}
	return one.Run()
}

// sources returns the sources of features and of labels that a configuration names, without `cpu`: that one asks the
// processor on which it runs, and reads no file that could stand for the node's.
func sources(file string) (features, labels utils.StringSliceVal, err error) {
	var configuration struct {
		Core struct {
			FeatureSources []string  `json:"featureSources"`
			LabelSources   []string  `json:"labelSources"`
			Sources        *[]string `json:"sources"`
		} `json:"core"`
	}
	configuration.Core.FeatureSources = []string{"all"}
	configuration.Core.LabelSources = []string{"all"}
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return nil, nil, err
	}
	// What cannot be parsed the worker itself refuses, in its own words.
	_ = yaml.Unmarshal(text, &configuration)
	if configuration.Core.Sources != nil {
		configuration.Core.LabelSources = *configuration.Core.Sources
	}
	return append(configuration.Core.FeatureSources, "-cpu"), append(configuration.Core.LabelSources, "-cpu"), nil
}
