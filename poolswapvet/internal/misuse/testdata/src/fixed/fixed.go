package fixed

import (
	"github.com/poolswap/poolswap"
	"wrap"
)

type service struct {
	c *poolswap.Container[wrap.Table, *wrap.Table]
}

func (s *service) size(early bool) int {
	if early {
		t := s.c.Acquire() // want `the result of Acquire is not released`
		return t.Size
	}
	return 0
}

func (s *service) released(early bool) int {
	t := s.c.Acquire() // want `the result of Acquire is not released on the path`
	if early {
		return 0
	}
	defer s.c.Release(t)
	return t.Size
}
