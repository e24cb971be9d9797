// Package plogp holds the parameters of the PLogP model of two ranks: the latency, and
// for each message size the overheads of sending and receiving and the gap between two
// messages. It says what to measure next and what the measurements mean; the measuring
// is the caller's.
//
//	var s plogp.Saturation
//	for n := s.Next(); n > 0; n = s.Next() {
//		s.Add(n, seconds) // n messages in a row and one back
//	}
//	p, err := plogp.Fit(roundTrip, s.Gap(), readings)
//	if err != nil {
//		return err
//	}
//	fmt.Println(p.Time(4096)) // seconds that a message of 4 KiB takes
//
// Sources: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023),
// sections 3.1.2 and 3.2; Kielmann, Bal and Verstoep, Fast Measurement of LogP Parameters
// for Message Passing Platforms (IPDPS 2000).
package plogp
