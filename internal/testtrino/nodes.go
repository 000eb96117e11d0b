package testtrino

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// Rules changes the file that says who may do what on an own cluster. It holds within seconds.
func (c *Cluster) Rules(t testing.TB, change func(rules string) string) {
	t.Helper()
	if !c.own {
		t.Fatal("others use this cluster too: take testtrino.Own")
	}
	file := filepath.Join(c.folder, "coordinator", "etc", "rules.json")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(change(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Lake makes a catalog of Iceberg tables on an own cluster, in files of its own. DROP CATALOG takes
// it away, and Lake brings it back with what was in it.
func (c *Cluster) Lake(t testing.TB, name string) {
	t.Helper()
	c.Run(t, fmt.Sprintf(`CREATE CATALOG %s USING iceberg WITH ("iceberg.catalog.type" = 'TESTING_FILE_METASTORE', `+
		`"fs.native-local.enabled" = 'true', "local.location" = '%s', "hive.metastore.catalog.dir" = 'local:///%s')`, name,
		filepath.Join(c.folder, "warehouse"), name))
}
