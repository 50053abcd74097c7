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
});
