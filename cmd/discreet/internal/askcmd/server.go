package askcmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/client"
)

// findServers are those that are named: by addresses, each with a file of a token, or by names that the
// file of servers has. No token goes to two servers.
func (c *AskCmd) findServers() (out []*client.Server, err error) {
	var directory *client.Directory
	tokens := c.TokenFile
	for _, at := range c.At {
		var s *client.Server
		switch {
		case strings.Contains(at, "://"):
			if len(tokens) == 0 {
				return nil, fmt.Errorf("there is no token for %s: give --token-file, a file for each address, or a file of servers", at)
			}
			var token []byte
			if token, err = os.ReadFile(tokens[0]); err == nil {
				s, err = client.New(at, string(token))
			}
			tokens = tokens[1:]
		case c.Servers == "":
			return nil, fmt.Errorf("%q is no address such as https://db.example:8432, and names are for a file of servers: give --servers",
				at)
		default:
			if directory == nil {
				if directory, err = client.ReadDirectory(c.Servers); err != nil {
					return nil, err
				}
			}
			s, err = directory.Server(at)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(tokens) > 0 {
		return nil, errors.New("there are more files of tokens than addresses")
	}
	return out, nil
}
