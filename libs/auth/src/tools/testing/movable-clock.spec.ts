import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Clock } from '../../foundation/platform/clock';
import { MovableClock, stoppedOffset, withStoppedTime } from './movable-clock';

describe('a movable clock', () => {
  it('that is stopped twice keeps the time to which it was moved', () => {
    const clock = new MovableClock();
    clock.stop();
    clock.advance(3600);
    const moved = clock.now();
    clock.stop();
    expect(clock.now()).toBe(moved);
  });

  it.each([
    ['moved', (clock: MovableClock) => clock.advance(3600)],
    ['stopped', (clock: MovableClock) => clock.stop()],
    ['stopped and moved', (clock: MovableClock) => (clock.stop(), clock.advance(3600))],
  ])('that was %s returns to the time of the machine after reset()', (_, change) => {
    const clock = new MovableClock();
    change(clock);
    clock.reset();
    const before = Date.now();
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
    expect(clock.offset).toBe(new Clock().offset);
  });

  const steps: [string, (clock: MovableClock) => void][] = [
    ['is set back', (clock) => clock.advance(-3600)],
    ['is stopped', (clock) => clock.stop()],
    ['is stopped and set back', (clock) => (clock.stop(), clock.advance(-3600))],
    ['is moved and reset', (clock) => (clock.advance(3600), clock.reset())],
    ['is stopped, moved and reset', (clock) => (clock.stop(), clock.advance(3600), clock.reset())],
  ];

  it.each(steps)('has a monotonic time that does not go back when it %s', (_, change) => {
    const clock = new MovableClock();
    const before = clock.monotonic();
    change(clock);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(before);
    clock.stop();
    const stopped = clock.monotonic();
    clock.advance(60);
    expect(clock.monotonic()).toBe(stopped + 60_000);
  });

  it('moves its monotonic time also while it is not stopped', () => {
    const clock = new MovableClock();
    const before = clock.monotonic();
    clock.advance(3600);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(before + 3_600_000);
  });
});

const NOON = Date.UTC(2026, 0, 1, 12);
const offset = stoppedOffset(NOON);

describe('the time of a stopped clock', () => {
  it('replaces the time of the database, wherever the offset is added to it', () => {
    const text = 'SELECT clock_timestamp() + $2::interval, statement_timestamp() + $2::interval - $1 WHERE $3';
    expect(withStoppedTime(text, ['a', offset, 'b'])).toEqual([
      'SELECT $2::timestamptz, $2::timestamptz - $1 WHERE $3',
      ['a', '2026-01-01T12:00:00.000Z', 'b'],
    ]);
  });

  it.each([
    ['a running clock', 'SELECT clock_timestamp() + $1::interval', ['5 milliseconds']],
    ['no offset', 'SELECT clock_timestamp(), $1', [null]],
    ['another use of the offset', 'SELECT $1::interval', [offset]],
    ['another parameter', 'SELECT clock_timestamp() + $2::interval, $1', [offset, '5 milliseconds']],
  ])('leaves a statement with %s unchanged', (_, text, values) => {
    expect(withStoppedTime(text, values)).toEqual([text, values]);
  });

  it('knows every statement of the library that adds the offset', () => {
    const root = join(__dirname, '../..');
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!spec|testkit)\.ts$/.test(file) && !file.startsWith(join('tools', 'testing')))
      .map((file) => readFileSync(join(root, file), 'utf8').replaceAll(/^ *(\/\/|\/?\*).*$/gm, ''));
    const casts = sources.flatMap((text) => text.match(/\S+ \S+ \S+::interval/g) ?? []);
    expect(casts.length).toBeGreaterThan(10);
    const known = /(clock|statement)_timestamp\(\) \+ \$(\d+|\{(?:parameter|offset|p\(\d+\))\})::interval/;
    expect(casts.filter((cast) => !known.test(cast))).toEqual([]);
  });
});
