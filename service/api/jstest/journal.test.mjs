import './load.mjs';
import assert from 'node:assert/strict';
import test from 'node:test';

const { batchByGain, describe, Journal, last, resultOf, visibleJobs } = await import('../assets/journal.js');

const problem = { library: 'mpich', collective: 'bcast' };
const header = {
  kind: 'header', campaign: 'night', version: '1.0', seed: 1, created: '2026-03-01T12:00:00Z',
  spec: {
    libraries: [{ name: 'mpich' }, { name: 'openmpi' }], collectives: ['bcast'], runner: { kind: 'replay' },
    stop: { slowdown: 1.03, mistakes: 0.05, machine_time: 7.2e12 },
  },
};
const candidate = (nodes, algorithm) => ({ collective: 'bcast', nodes, ppn: 4, msg_bytes: 64, algorithm });
const batch = (round, candidates, reasons) => ({ kind: 'batch', problem, round, batch: candidates, reasons });

function journalOf(...records) {
  const journal = new Journal();
  records.forEach((r, i) => journal.apply(r.kind, r, i + 1));
  return journal;
}

test('the header lists problems and criteria, times in seconds', () => {
  const j = journalOf(header);
  assert.deepEqual([...j.problems.keys()], ['mpich bcast', 'openmpi bcast']);
  assert.equal(j.criteria.machineTime, 7200);
  assert.equal(j.criteria.slowdown, 1.03);
  assert.equal(j.live, false);
});

test('a trial is the result of its candidate of the last batch', () => {
  const a = candidate(2, 'binomial');
  const j = journalOf(header, batch(1, [a, candidate(4, 'ring')]), { kind: 'trial', problem, round: 1, trial: { ...a, state: 'failed', phase: 'run', error: 'killed' } });
  const p = j.problems.get('mpich bcast');
  assert.equal(resultOf(p, a).state, 'failed');
  assert.equal(resultOf(p, candidate(4, 'ring')), undefined);
  assert.equal(p.trials, 1);
  j.apply('batch', batch(2, [a]), 4);
  assert.equal(resultOf(p, a), undefined, 'a new batch begins without results');
});

test('the largest gain for its cost comes first', () => {
  const reasons = [{ uncertainty: 0.1, gain: 0.01, seconds: 10 }, { uncertainty: 0.1, gain: 0.01, seconds: 1 }];
  const j = journalOf(header, batch(1, [candidate(2, 'a'), candidate(4, 'b')], reasons));
  assert.deepEqual(batchByGain(j.problems.get('mpich bcast').batch).map((c) => c.nodes), [4, 2]);
});

test('evaluations of all problems add up', () => {
  const evaluation = (library, round, seconds) => ({ kind: 'evaluation', problem: { library, collective: 'bcast' }, round, evaluation: { round, machine_seconds: seconds, slowdown: 1.2, mistakes: 0 } });
  const j = journalOf(header, evaluation('mpich', 1, 10), evaluation('mpich', 2, 30), evaluation('openmpi', 1, 5));
  assert.equal(j.machineSeconds(), 35);
  assert.equal(last(j.problems.get('mpich bcast')).round, 2);
});

test('a job is known by its name, open ones first', () => {
  const job = (name, state) => ({ kind: 'job', problem, job: { name, state, carries: [0], nodes: 2, limit_seconds: 60 } });
  const j = journalOf(job('a', 'submitted'), job('b', 'submitted'), job('a', 'ended'), job('c', 'ended'));
  assert.deepEqual(visibleJobs(j.jobs, 1).map((x) => `${x.name} ${x.state}`), ['b submitted', 'c ended']);
});

test('stop of a problem and of the campaign', () => {
  const j = journalOf(header, { kind: 'stop', problem, stop: 'converged' }, { kind: 'stop', stop: 'budget' });
  assert.equal(j.problems.get('mpich bcast').stop, 'converged');
  assert.equal(j.problems.size, 2);
});

test('every kind of record has a description', () => {
  assert.match(describe('trial', { problem, trial: { ...candidate(2, 'ring'), state: 'done', seconds: 2e-6 } }), /^mpich bcast: 2×4.64.B ring takes 2.µs$/);
  assert.match(describe('stop', { problem, stop: 'converged' }), /mpich bcast: stopped: converged/);
  assert.equal(describe('later', {}), 'later');
  assert.equal(describe('verify', { note: 'two points reverted' }), 'verify: two points reverted');
});

test('the log keeps its newest lines', () => {
  const j = new Journal();
  for (let i = 1; i <= 2500; i++) j.apply('resume', {}, i);
  assert.equal(j.log.length, 2000);
  assert.equal(j.log[1999].seq, 2500);
});
