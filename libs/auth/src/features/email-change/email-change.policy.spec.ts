import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmailChangeState, type LinkVerdict, linkVerdict, transition } from './email-change.policy';
import { EMAIL_CHANGE, type EmailChangeStep } from './email-change.policy';

const STATES: EmailChangeState[] = ['requested', 'changed', 'confirmed', 'restored', 'undone', 'superseded'];

describe('a change of email', () => {
  it.each<[EmailChangeStep, EmailChangeState[], EmailChangeState]>([
    ['request', ['requested'], 'requested'],
    ['confirm', ['requested'], 'changed'],
    ['settle', ['changed'], 'confirmed'],
    ['undo', ['changed', 'confirmed'], 'restored'],
    ['close', ['restored'], 'undone'],
    ['supersede', ['requested', 'changed', 'confirmed', 'restored'], 'superseded'],
  ])('has the step %s from %j to %s', (step, from, to) => expect(transition(step)).toEqual({ from, to }));

  it('has one next state for each step', () => {
    expect(Object.keys(EMAIL_CHANGE)).toEqual(STATES);
    for (const step of ['request', 'confirm', 'settle', 'undo', 'close', 'supersede'] as const) {
      const next = Object.values(EMAIL_CHANGE).flatMap((steps) => steps[step] ?? []);
      expect(new Set(next).size).toBe(1);
    }
  });
});

describe('the page about the change of email', () => {
  it('has a diagram of the steps of the table, in their order', () => {
    const page = readFileSync(join(__dirname, '../../../../../docs/email-change.md'), 'utf8');
    const steps = Object.entries(EMAIL_CHANGE).flatMap(([state, possible]) =>
      Object.entries(possible).map(([step, next]) => `${state} --> ${next} : ${step}`),
    );
    const last = STATES.filter((state) => !Object.keys(EMAIL_CHANGE[state]).length).map((state) => `${state} --> [*]`);
    const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(page)![1]!;
    const lines = diagram.split('\n').map((line) => line.trim());
    expect(lines.filter(Boolean)).toEqual(['[*] --> requested : request', ...steps, ...last]);
  });
});

describe('a link of a change of email', () => {
  const verdicts = (link: 'confirm' | 'undo', more = {}): LinkVerdict[] =>
    STATES.map((state) => linkVerdict(link, { state, isExpired: false, isRevoked: false, ...more }));

  it('to the new address confirms a request once, and can finish what an earlier request began', () => {
    expect(verdicts('confirm')).toEqual(['perform', 'resume', 'done', 'refuse', 'refuse', 'refuse']);
  });

  it('to the new address is refused if its request was revoked, but not after the change', () => {
    expect(verdicts('confirm', { isRevoked: true })).toEqual([
      'refuse',
      'resume',
      'done',
      'refuse',
      'refuse',
      'refuse',
    ]);
  });

  it('to the former address undoes a change once, and can finish what an earlier request began', () => {
    const expected = ['refuse', 'perform', 'perform', 'resume', 'done', 'refuse'];
    expect(verdicts('undo')).toEqual(expected);
    expect(verdicts('undo', { isRevoked: true })).toEqual(expected);
  });

  it.each(['confirm', 'undo'] as const)('is refused in every state after its expiry: %s', (link) => {
    expect(verdicts(link, { isExpired: true })).toEqual(STATES.map(() => 'refuse'));
  });

  it.each(['confirm', 'undo'] as const)('is refused without a stored change: %s', (link) => {
    expect(linkVerdict(link, null)).toBe('refuse');
  });
});
