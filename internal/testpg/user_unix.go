//go:build unix

package testpg

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// other returns as whom the server runs where we are root: as postgres, or as nobody.
func other() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, lookup := user.Lookup(name)
		if lookup != nil {
			continue
		}
		uid, err = strconv.Atoi(u.Uid)
		if err != nil {
			return 0, 0, err
		}
		gid, err = strconv.Atoi(u.Gid)
		return uid, gid, err
	}
	return 0, 0, errors.New("there is no user postgres and none nobody, as whom PostgreSQL could run")
}

// give makes the server's user the owner of a folder.
func give(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := other()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// run makes a command run as the server's user.
func run(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C reaches us alone
	if os.Geteuid() != 0 {
		return
	}
	if uid, gid, err := other(); err == nil {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
