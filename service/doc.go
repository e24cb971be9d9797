// Package service runs campaigns unattended: one at a time on each machine, the
// others queue, some by a schedule. Each campaign is a process of its own, tutti
// tune or tutti resume in a folder of its own, and its journal is what is known
// of it: the service can die at any moment and finds its campaigns again.
package service
