package curator

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// program names what computes exact numbers: this build, with all that is in it. The same question
// of the same data has the same exact numbers as long as it is the same. An engine of another
// version may order hashes in another way, and keep other rows of somebody who has too many. Empty
// stands for not knowing: then nothing is made of an earlier answer.
//
// What the build says of its modules is not enough: without the history of the source, as in a
// container, two versions of ours say the same.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	code, err := codeOf(path)
	if err != nil {
		return ""
	}
	h := sha256.Sum256([]byte(info.String() + code))
	return hex.EncodeToString(h[:8])
})

// codeOf names the code of an executable: by the linker's name for all that went into it, which is
// read in no time, or by its bytes.
func codeOf(path string) (string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if note := f.Section(".note.go.buildid"); note != nil {
			if text, err := note.Data(); err == nil && len(text) > 16 {
				return string(text[16:]), nil
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
