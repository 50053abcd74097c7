import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import { Signatures, newSecret, rootsAmong } from '../../foundation/platform/crypto';
import type { Mail, MailKind, RequestedMails, StatedMail, StatedMails } from '../../foundation/ports/mail';
import { type Feature, MANIFESTS, statedBy } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { type Limit, SecurityStore } from '../../foundation/security-store/security-store';
import type { EmailProof } from '../../identity/users/email-proof.policy';
import { canonicalEmail } from '../../identity/users/identifiers';
import { limit } from '../../request/throttling/limiters';
import { limitState } from '../../request/throttling/rate-limit.policy';
import { TooManyRequests } from '../../request/throttling/throttling.errors';
import { mailLimits } from './mail-limits.policy';

/** A mail with its recipient, before it is written: tokens and codes are made only for a mail that may be sent. */
interface AnyDraft {
  readonly to: string;
  /** Writes the mail; null if there is none to send. It does not count then. */
  readonly write: () => Promise<Mail | null>;
  /** Runs instead of {@link write} if the mail may not be sent. */
  readonly refused?: () => Promise<unknown>;
  /**
   * Counts also if no mail was sent: a code that was made can be guessed, and an address without an account has the same
   * counters.
   */
  readonly countsAlways?: true;
  /** Was counted by {@link MailGate.withReserved}. */
  readonly isReserved?: true;
  /** Names a mail that several jobs may prepare: one of them sends it. */
  readonly once?: string;
  /** Runs if the mail could not be written or sent, or not in time. */
  readonly failed?: () => Promise<unknown>;
  /** Runs after the mail server has accepted the mail. */
  readonly sent?: () => Promise<unknown>;
}

/** A mail that a person can request states what proves that the owner did; by default, nothing does. */
type RequestedDraft = AnyDraft & {
  /** Whether the request contained a secret that was mailed to this address, or is a call of an operator. */
  readonly isOwners?: boolean;
};

/** A mail that informs the owner of an account. */
type InformingDraft = AnyDraft & {
  /** What is known of the recipient. */
  readonly proof: EmailProof;
};

export type Draft<Kind extends MailKind> = [Kind] extends [keyof RequestedMails] ? RequestedDraft : InformingDraft;

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The kinds of mails of the feature. */
    readonly mails?: StatedMails;
  }
}

/** The kinds of mails of all features. */
export const mailsOf = (manifests: readonly Feature[]): ReadonlyMap<MailKind, StatedMail> =>
  statedBy(manifests, ({ mails }) => mails as Readonly<Record<string, StatedMail>>) as ReadonlyMap<
    MailKind,
    StatedMail
  >;

/** A mail that may be sent. Its limits count it as pending until the end of the attempt. */
export interface AdmittedMail {
  /** @param isCounted whether it counts: it was sent, or may have been */
  end(isCounted: boolean): Promise<void>;
}

/** Seconds for which one job prepares a mail: more than the time limit of one mail. */
const CLAIM_SECONDS = 120;

/** Seconds in which a mail is not sent again. */
const SENT_SECONDS = 86_400;

/**
 * Decides which mails are sent: every mail of the library passes it. The counters are keyed by an HMAC of the recipient's
 * address, of all guards together, so the store contains no address.
 */
@Injectable()
export class MailGate {
  private readonly signatures: Signatures;
  private readonly mails: ReadonlyMap<MailKind, StatedMail>;

  constructor(
    private readonly store: SecurityStore,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) { encryption, guards }: AuthConfig,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.mails = mailsOf(manifests);
    // The roots of the refresh tokens, of the default guard, so that all guards count together.
    const [root] = rootsAmong([encryption.key, guards.find(({ isDefault }) => isDefault)?.secret]);
    this.signatures = new Signatures([root ?? newSecret()], 'svc:mail-recipient');
  }

  /**
   * Counts a mail, and claims it if several jobs may send it. Atomic: of any number of concurrent mails, no more than the
   * limits allow are sent. Null for a mail that is not sent.
   *
   * @param client the key of the client that has caused the mail; null if it is not known
   * @throws StoreUnavailable
   */
  async admit<Kind extends MailKind>(
    kind: Kind,
    draft: Draft<Kind>,
    client: string | null,
  ): Promise<AdmittedMail | null> {
    const { to, once, isReserved }: AnyDraft = draft;
    const { isOwners = false, proof = isOwners ? 'person' : 'none' } = draft as Partial<
      RequestedDraft & InformingDraft
    >;
    const limits = isReserved ? [] : this.limitsFor(kind, to, proof, client);
    if (limits === null) return null;
    if (limits.length > 0 && !(await this.store.count(limits, true)).admitted) return null;
    const settle = async (isCounted: boolean): Promise<void> => {
      if (limits.length > 0) await this.store.settle(limits, isCounted ? 'failed' : 'undone');
    };
    if (once === undefined) return { end: settle };
    const claim = `svc:mail:${this.realm.guard}:${kind}:${once}`;
    if (!(await this.store.add(claim, 'true', CLAIM_SECONDS))) {
      await settle(false);
      return null;
    }
    const end = async (isCounted: boolean): Promise<void> => {
      await (isCounted ? this.store.setMany([claim], 'true', SENT_SECONDS) : this.store.take(claim));
      await settle(isCounted);
    };
    return { end };
  }

  /**
   * Makes a change that a mail to its proved owner reports, if the mail may be sent. The mail counts if the change was made.
   *
   * @param isFull whether the mail would be lost, because too many mails wait
   * @throws TooManyRequests, before the change; StoreUnavailable; every error of the change
   */
  async withReserved<T>(
    kind: MailKind,
    to: string,
    change: () => Promise<T>,
    isMade: (result: T) => boolean,
    isFull: boolean,
  ): Promise<T> {
    if (isFull) throw new TooManyRequests({ limit: 1, remaining: 0, retryAfter: 60 }, this.clock.seconds());
    const limits = this.limitsFor(kind, to, 'person', null) ?? [];
    const tally = await this.store.count(limits, true);
    if (!tally.admitted) throw new TooManyRequests(limitState(limits, tally), this.clock.seconds());
    let isCounted = false;
    try {
      const result = await change();
      isCounted = isMade(result);
      return result;
    } finally {
      // If the store does not answer, the mail stays counted until the window of its limits ends.
      await this.store.settle(limits, isCounted ? 'failed' : 'undone').catch(() => undefined);
    }
  }

  /** Whether a person can request a mail of the kind again. */
  isRequested(kind: MailKind): boolean {
    return this.mails.get(kind)!.class === 'requested';
  }

  private limitsFor(kind: MailKind, to: string, proof: EmailProof, client: string | null): Limit[] | null {
    const recipient = mailboxOf(to);
    // Mails to an unproved address must not use up the limits of the proved owner of the same address.
    const scopes = { recipient: '', client, kind: [this.realm.guard, kind, proof].join('|') };
    const found = mailLimits(this.mails.get(kind)!, proof);
    const group = this.signatures.sign(recipient);
    return (
      found
        ?.filter(({ of }) => scopes[of] !== null)
        .map(({ of, max: maxAttempts, seconds: decaySeconds }) => {
          const key = this.signatures.sign(JSON.stringify([of, scopes[of], decaySeconds, recipient]));
          return limit(`mail-${of === 'kind' ? kind : of}`, { key, maxAttempts, decaySeconds }, group);
        }) ?? null
    );
  }
}

/**
 * The mailbox of an address, for counting: in its canonical form without a subaddress (RFC 5233), because `ada+1@example.com` and
 * `ada+2@example.com` are usually one mailbox.
 */
export function mailboxOf(address: string): string {
  const canonical = canonicalEmail(address);
  const at = canonical.lastIndexOf('@');
  return `${canonical.slice(0, Math.max(0, at)).split('+', 1)[0]}@${canonical.slice(at + 1)}`;
}
