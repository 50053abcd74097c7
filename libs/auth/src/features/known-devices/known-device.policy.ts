import type { session } from '../../kit';

/** A device after a sign-in. */
export interface SeenDevice {
  /** Whether the statement that recorded the sign-in has created its row. */
  readonly isNew: boolean;
  /** Whether the mail about the first sign-in on the device has to be sent: also after an earlier one that could not be. */
  readonly isMailDue: boolean;
}

/**
 * Decides what a sign-in on a device causes. Pure. The first device of a user is recorded without a mail: it is that of the
 * registration, or of the first sign-in after the feature was turned on.
 */
export function deviceVerdict({ isNew, isMailDue }: SeenDevice): { device: session.SignInDevice; mails: boolean } {
  return { device: isNew ? 'new' : 'known', mails: isMailDue };
}

/**
 * The states of a row.
 *
 * - `known`: the user has signed in on the device.
 * - `forgotten`: the user has removed it from the list. A sign-in on it is one on a new device.
 * - `reported`: the owner of the account did not know the sign-in. A sign-in on it is one on a new device.
 *
 * The mailed link works in the states `known` and `forgotten`: a thief who is signed in cannot take it away.
 */
export type KnownDeviceState = 'known' | 'forgotten' | 'reported';

/** The state machine: the next state, by state and step. A step that is not listed changes nothing. */
export const KNOWN_DEVICE: Readonly<
  Record<KnownDeviceState, Readonly<Partial<Record<'sign in' | 'forget' | 'report', KnownDeviceState>>>>
> = {
  known: { 'sign in': 'known', forget: 'forgotten', report: 'reported' },
  forgotten: { report: 'reported' },
  reported: {},
};

/** A row that was found by the token of a mailed link. */
export interface FoundReport {
  readonly isReported: boolean;
  readonly isExpired: boolean;
}

/**
 * Decides what a request with a mailed link does. Pure. `done`: the link was used before, so everything has happened: a
 * later session is not ended, as that of the owner after the reset. An
 * expired link is refused: an answer that the session has ended would be false.
 */
export function reportVerdict(found: FoundReport | null): 'perform' | 'done' | 'refuse' {
  if (found?.isReported) return 'done';
  return !found || found.isExpired ? 'refuse' : 'perform';
}
