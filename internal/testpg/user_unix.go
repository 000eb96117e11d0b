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

// serverUser returns as whom the server runs where we are root: as postgres, or as nobody.
func serverUser() (uid, gid int, err error) {
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

// giveToServerUser makes the server's user the owner of a folder.
func giveToServerUser(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := serverUser()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// runAsServerUser makes a command run as the server's user.
func runAsServerUser(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C reaches us alone
	if os.Geteuid() != 0 {
		return
	}
	if uid, gid, err := serverUser(); err == nil {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
