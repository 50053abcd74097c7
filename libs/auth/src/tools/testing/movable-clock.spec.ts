import { Clock } from '../../foundation/platform/clock';
import { MovableClock } from './movable-clock';

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
