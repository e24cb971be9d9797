// Package hwloc reads what is inside a node from the XML that hwloc's lstopo writes.
//
//	node, err := hwloc.Read(file, "n7.xml", "")
//	if err != nil {
//		return err // n7.xml:12: object type Foo: want one of ...
//	}
//	err = tree.Graft(node)
//
// Source: the DTD and the manual of hwloc 2.9; files of hwloc 1.11 differ in the names
// of sockets and caches and have NUMA nodes around what they serve.
package hwloc
