package testtrino

import (
	"os/exec"
	"testing"
)

// Kill ends nodes of an own cluster with SIGKILL, in the middle of whatever they do: "coordinator",
// "worker1", "worker2" and so on.
func (c *Cluster) Kill(t testing.TB, nodes ...string) {
	t.Helper()
	for _, node := range nodes {
		c.command(t, "kill", node)
	}
}

// Restart starts what was killed of an own cluster, and returns when all its nodes are active. What
// was in the catalog memory on a node that was killed is gone.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.command(t, "start")
}

func (c *Cluster) command(t testing.TB, name string, args ...string) {
	t.Helper()
	if !c.own {
		t.Fatal("others use this cluster too: take testtrino.Own")
	}
	out, err := exec.Command(script(), append([]string{name, c.folder}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("deploy/trino/cluster %s: %v\n%s", name, err, out)
	}
}
