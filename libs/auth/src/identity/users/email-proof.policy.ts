/**
 * What is known of the recipient of a mail: nothing; that mails to the address are opened, perhaps by a program; or that a person
 * has proved the address.
 */
export type EmailProof = 'none' | 'delivery' | 'person';

/** What the library knows about the email of a user. */
export interface EmailState {
  /** Whether the user counts as verified. False if it is not known. */
  readonly isVerified: boolean;
  /** Whether the address was verified by a link that was opened without a session of the user, and not proved by a person since. */
  readonly isDeliveryOnly: boolean;
}

/**
 * Whether a person has proved to read the mails of the account. Pure. A program that opens links in mails verifies an address
 * as its owner does. So an opened link proves the delivery alone, unless its request carries a session of the user. An address
 * that the host has marked as verified is proved.
 */
export const isProvedByPerson = ({ isVerified, isDeliveryOnly }: EmailState): boolean => isVerified && !isDeliveryOnly;
