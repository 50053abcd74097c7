/** A moment by the clock of the machine, which can be set back, and by a clock that can stop while the machine sleeps. */
export interface Moment {
  wall: number;
  steady: number;
}

/** Both clocks have run alike since `wall`, which is now, or when a request or a message was sent. */
export const momentAt = (wall = Date.now()): Moment => ({ wall, steady: performance.now() - (Date.now() - wall) });

/** Milliseconds since a moment. Either clock can lose time, so the larger difference is the true one. */
export const since = ({ wall, steady }: Moment): number => Math.max(Date.now() - wall, performance.now() - steady);
