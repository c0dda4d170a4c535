"""Things that make a policy or judge one."""
