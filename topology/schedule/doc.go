// Package schedule orders the messages of collectives by the tree of a machine, so that
// no two messages want the same link in the same direction at the same time.
//
//	order, err := schedule.Ring(&tree, nodes)      // the node of each rank
//	phases, err := schedule.Alltoall(&tree, nodes) // each phase free of contention
//
// Each rank and each node has a link of its own; so has each switch to the one above.
// Links carry one message in either direction at a time.
//
// Sources: Faraj and Yuan, Automatic Generation and Tuning of MPI Collective
// Communication Routines (ICS 2005), section 3.1; Faraj and Yuan, Message Scheduling for
// All-to-all Personalized Communication on Ethernet Switched Clusters (IPDPS 2005).
package schedule
