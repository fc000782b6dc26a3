// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

const (
	kafkaVersion    = "4.1.0"
	kafkaJava       = 17 // the lowest that the broker runs on
	kafkaMinSession = "300"
	kafkaLinks      = 4
	// kafkaCluster is any base64 UUID; a cluster of one does not need its own.
	kafkaCluster = "aGFybmVzcy1uYXRpdmUtMQ"
)

// kafka is one KRaft node in one JVM, from the jars that Maven resolves.
type kafka struct{}

func (kafka) engine() string { return provision.Kafka }
func (kafka) system() string { return "" }
func (kafka) stamp() string  { return stampOf(kafkaVersion, recipeFile("kafka-pom.xml")) }

func (kafka) proof() string {
	return filepath.Join("libs", "kafka_2.13-"+kafkaVersion+".jar")
}

func (kafka) install(ctx context.Context, dir string) error {
	if _, err := javaBinary(ctx); err != nil {
		return err
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return unavailable(provision.Kafka, "mvn is not in PATH", "install Maven", nil)
	}
	pom, err := render("kafka-pom.xml", map[string]string{"Version": kafkaVersion})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(pom), 0o644); err != nil {
		return err
	}
	repository := filepath.Join(dir, "repository")
	defer os.RemoveAll(repository)
	_, err = run(ctx, dir, dir, mvn, "-q", "-B", "-Dmaven.repo.local="+repository,
		"dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(dir, "libs"))
	return err
}

func (kafka) ports() []string {
	ports := []string{"client", "controller"}
	for i := range kafkaLinks {
		ports = append(ports, linkPort(i, "upstream"), linkPort(i, "advertised"))
	}
	return ports
}

func linkPort(i int, side string) string { return fmt.Sprintf("link%d-%s", i+1, side) }

func (k kafka) configure(ctx context.Context, s site) error {
	properties, err := k.properties(s)
	if err != nil {
		return err
	}
	files := map[string]string{
		"server.properties": properties,
		"log4j2.properties": recipeFile("kafka-log4j2.properties"),
	}
	if err := writeFiles(s.Dir, files); err != nil {
		return err
	}
	java, err := javaBinary(ctx)
	if err != nil {
		return err
	}
	_, err = run(ctx, s.Dir, s.Dir, java, k.java(s, "-Dlog4j2.level=ERROR", "kafka.tools.StorageTool",
		"format", "-t", kafkaCluster, "-c", filepath.Join(s.Dir, "server.properties"))...)
	return err
}

func (k kafka) properties(s site) (string, error) {
	type link struct{ Name, Upstream, Advertised string }
	var links []link
	for i, l := range k.links(s) {
		links = append(links, link{fmt.Sprintf("LINK%d", i+1), l.Upstream, l.Advertised})
	}
	return render("kafka-server.properties", map[string]any{
		"Client":     s.address("client"),
		"Controller": s.address("controller"),
		"Links":      links,
		"Data":       filepath.Join(s.Dir, "data"),
		"MinSession": kafkaMinSession,
	})
}

func (kafka) links(s site) []provision.Link {
	links := make([]provision.Link, kafkaLinks)
	for i := range links {
		links[i] = provision.Link{
			Advertised: s.address(linkPort(i, "advertised")),
			Upstream:   s.address(linkPort(i, "upstream")),
		}
	}
	return links
}

// java is the command line of one class of the jars.
func (kafka) java(s site, args ...string) []string {
	return append([]string{
		"-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true",
		"-Djava.io.tmpdir=" + s.Dir,
		"-Dlog4j2.configurationFile=" + filepath.Join(s.Dir, "log4j2.properties"),
		"-cp", filepath.Join(s.Home, "libs", "*"),
	}, args...)
}

func (k kafka) commands(s site) []command {
	return []command{{
		Name: "kafka",
		Path: javaPath(),
		Args: k.java(s, "kafka.Kafka", filepath.Join(s.Dir, "server.properties")),
	}}
}

func (kafka) control(site) command { return command{} }

func (kafka) ready(ctx context.Context, s site) (string, error) {
	return kafkaVersion, probe.Kafka(ctx, s.address("client"))
}

func (k kafka) endpoint(s site) provision.Endpoint {
	return provision.Endpoint{
		Address: s.address("client"),
		Links:   k.links(s),
		Settings: map[string]string{
			provision.SettingMinSession:                                   kafkaMinSession,
			"group.initial.rebalance.delay.ms":                            "0",
			"offsets.retention.check.interval.ms":                         "5000",
			"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
			"log.retention.check.interval.ms":                             "1000",
			"broker.session.timeout.ms":                                   "6000",
			"auto.create.topics.enable":                                   "false",
			"nodes":                                                       "1",
		},
	}
}

// javaPath is JAVA_HOME's java, else the one in PATH.
func javaPath() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

// javaBinary is javaPath, if it is there and new enough.
func javaBinary(ctx context.Context) (string, error) {
	help := fmt.Sprintf("install Java %d or newer", kafkaJava)
	path, err := exec.LookPath(javaPath())
	if err != nil {
		return "", unavailable(provision.Kafka, "there is no java", help, err)
	}
	out, err := run(ctx, "", "", path, "-version")
	if err != nil {
		return "", unavailable(provision.Kafka, "java does not run", help, err)
	}
	if major := javaMajor(out); major < kafkaJava {
		return "", unavailable(provision.Kafka, fmt.Sprintf("java %d is too old", major), help, nil)
	}
	return path, nil
}

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// javaMajor reads the output of java -version; 0 if it is not understood, 1 up to Java 8.
func javaMajor(out string) int {
	match := javaVersion.FindStringSubmatch(out)
	if match == nil {
		return 0
	}
	major, _ := strconv.Atoi(match[1])
	return major
}
