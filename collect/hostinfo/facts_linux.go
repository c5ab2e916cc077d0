package hostinfo

import "context"

func (c *collector) systemFacts(context.Context) { c.linuxFacts() }
