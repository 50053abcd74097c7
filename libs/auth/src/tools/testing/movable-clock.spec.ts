import { Clock } from '../../foundation/platform/clock';
import { MovableClock } from './movable-clock';

describe('a movable clock', () => {
  it.each([
    ['moved', (clock: MovableClock) => clock.advance(3600)],
    ['stopped', (clock: MovableClock) => clock.stop()],
    ['stopped and moved', (clock: MovableClock) => (clock.stop(), clock.advance(3600))],
  ])('that was %s returns to the time of the machine by reset', (_, change) => {
    const clock = new MovableClock();
    change(clock);
    clock.reset();
    const before = Date.now();
    expect(clock.now()).toBeGreaterThanOrEqual(before);
    expect(clock.now()).toBeLessThanOrEqual(Date.now());
    expect(clock.offset).toBe(new Clock().offset);
  });
});
