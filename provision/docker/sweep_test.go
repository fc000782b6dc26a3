// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed-720a3c77/harness/provision"
)

func TestConcurrentUpsStartOneBroker(t *testing.T) {
	p := dockerProvider(t, provision.SQS)
	addresses := make([]string, 4)
	var all sync.WaitGroup
	for i := range addresses {
		all.Go(func() {
			other := &Provider{Cache: p.Cache} // as another process would
			e, err := other.Up(context.Background(), provision.SQS)
			if err != nil {
				t.Error(err)
			}
			addresses[i] = e.Address
		})
	}
	all.Wait()
	for _, a := range addresses {
		if a == "" || a != addresses[0] {
			t.Errorf("addresses differ: %v", addresses)
		}
	}
}

// TestUpThawsButReplacesTheDead: a frozen broker is still the one that was started, a killed
// one is none, also when it was frozen before.
func TestUpThawsButReplacesTheDead(t *testing.T) {
	p := dockerProvider(t, provision.SQS)
	node := up(t, p, provision.SQS).Nodes[0]
	_, _, first := lookUp(t, p, provision.SQS)
	if err := node.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	up(t, p, provision.SQS)
	if _, _, c := lookUp(t, p, provision.SQS); c.id != first.id || c.state != container.StateRunning {
		t.Errorf("container %+v, want %.12s running", c, first.id)
	}
	if err := errors.Join(node.Freeze(t.Context()), node.Kill(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, _, dead := lookUp(t, p, provision.SQS)
	if dead.runs() {
		t.Errorf("container %+v was killed", dead)
	}
	up(t, p, provision.SQS)
	if _, _, c := lookUp(t, p, provision.SQS); c.id == dead.id || !c.runs() {
		t.Error("a killed container was taken for a broker")
	}
}

// TestUpReplacesAnotherSetup: a broker of another build is not what its endpoint would claim,
// and one that was cut off before it was started is none at all.
func TestUpReplacesAnotherSetup(t *testing.T) {
	p := dockerProvider(t, provision.SQS)
	up(t, p, provision.SQS)
	h, b, c := lookUp(t, p, provision.SQS)
	if err := h.sweep(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	leftOver := &container.Config{Image: c.site.Image, Labels: map[string]string{
		labelEngine: b.engine, labelOwner: b.owner, labelSetup: "another", labelSite: "{}",
	}}
	cut, err := h.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: b.container(), Config: leftOver})
	if err != nil {
		t.Fatal(err)
	}
	up(t, p, provision.SQS)
	if _, _, c := lookUp(t, p, provision.SQS); c.id == cut.ID || !c.runs() {
		t.Errorf("container %+v is not a fresh one", c)
	}
}

// idle is a recipe whose broker ends at once.
type idle struct{ kafka }

func (i idle) environment(s site) map[string]string {
	environment := i.kafka.environment(s)
	environment["KAFKA_PROCESS_ROLES"] = "bystander"
	return environment
}

func TestABrokerThatEndsIsReportedWithItsLog(t *testing.T) {
	p := dockerProvider(t, provision.Kafka)
	b, err := p.berth(provision.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	b.recipe = idle{}
	h, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, err = h.create(t.Context(), b)
	if err == nil || errors.Is(err, provision.ErrUnavailable) || !strings.Contains(err.Error(), "bystander") {
		t.Errorf("create() = %v, want a failure that shows the log", err)
	}
	if left, err := h.list(t.Context(), b); len(left) != 0 || err != nil {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestAMissingImageIsUnavailable(t *testing.T) {
	p := dockerProvider(t, provision.SQS)
	p.Images = map[string]string{provision.SQS: "localhost:1/no-such:1"}
	_, err := p.Up(t.Context(), provision.SQS)
	if !errors.Is(err, provision.ErrUnavailable) {
		t.Fatalf("Up() = %v, want ErrUnavailable", err)
	}
	for _, part := range []string{"localhost:1/no-such:1", "HARNESS_DOCKER_IMAGE_SQS"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not tell %q: %v", part, err)
		}
	}
}
