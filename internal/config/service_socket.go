package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"strings"
)

// defaultSocketMode lets only the user of the service connect.
const defaultSocketMode = "0600"

// socketModes are the permissions that a socket may have. To connect, a user needs the permission to write.
var socketModes = map[string]fs.FileMode{defaultSocketMode: 0o600, "0660": 0o660, "0666": 0o666}

// noGroup stands for the group of the process.
const noGroup = -1

// socketMode returns the type of a key whose value is one of socketModes.
func socketMode(at *fs.FileMode) value {
	read := func(v any) error {
		mode, ok := socketModes[fmt.Sprint(v)]
		if !ok {
			return fmt.Errorf("%s: want \"0600\", \"0660\" or \"0666\"", quoted(v))
		}
		*at = mode
		return nil
	}
	return value{read: read, schema: schema{"type": "string"}}
}

// socketGroup returns the type of a key whose value is a group of this machine.
func socketGroup(at *int) value {
	read := func(v any) error {
		*at = noGroup
		name := fmt.Sprint(v)
		if name == "" {
			return nil
		}
		if id, err := strconv.ParseUint(name, 10, 31); err == nil {
			*at = int(id)
			return nil
		}
		g, err := user.LookupGroup(name)
		if err != nil {
			return fmt.Errorf("%q: this machine has no such group: want a name of /etc/group, or its number", name)
		}
		*at, err = strconv.Atoi(g.Gid)
		return err
	}
	return value{read: read, schema: schema{"type": "string"}}
}

// agreeSocket reports keys of the socket that contradict others.
func (s *Service) agreeSocket(fault func(key string, err error)) {
	open := s.SocketMode != socketModes[defaultSocketMode]
	switch socket := strings.HasPrefix(s.Listen, "unix:"); {
	case !socket && open:
		fault("socket.mode", fmt.Errorf("is for a socket, but listen is %s: want unix:PATH", s.Listen))
	case !socket && s.SocketGroup != noGroup:
		fault("socket.group", fmt.Errorf("is for a socket, but listen is %s: want unix:PATH", s.Listen))
	case !open && s.SocketGroup != noGroup:
		fault("socket.group", errors.New("socket.mode 0600 keeps the group out: want socket.mode 0660"))
	case open && s.Tokens == "":
		fault("socket.mode", fmt.Errorf("%#o: everyone who reaches the socket could operate the service: want tokens", s.SocketMode))
	}
}
