import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { Realm, SecurityStore, crypto } from '../../kit';

/** 128 bits, the minimum of WebAuthn Level 3 §13.4.3. */
const CHALLENGE_BYTES = 16;

/** The length of a random user handle, which WebAuthn Level 3 §14.6.1 recommends. */
const HANDLE_BYTES = 64;

/** How a passkey of an existing user is created. `conditional`: by the browser, without a question to the user. */
export type CreationKind = 'interactive' | 'conditional';

/** What a ceremony for a new passkey has begun with. */
export interface CreationCeremony {
  readonly challenge: string;
  /** The user handle of the options; null: it is the user id. */
  readonly userHandle: string | null;
}

/** The ceremony of a new account. */
export interface AccountCeremony {
  readonly challenge: string;
  readonly userHandle: string;
}

/** Stores the challenges of WebAuthn ceremonies. Reading a challenge removes it, so each can be used only once. */
@Injectable()
export class Ceremonies {
  constructor(
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {}

  /** Makes a challenge for a new passkey of the user. It replaces the previous one of this kind. */
  async startRegistration(userId: string, userHandle: string | null, kind: CreationKind): Promise<string> {
    const challenge = newChallenge();
    // Neither contains a dot.
    const value = userHandle === null ? challenge : `${challenge}.${userHandle}`;
    await this.store.setMany([this.registrationKey(userId, kind)], value, this.ttl);
    return challenge;
  }

  async takeRegistration(userId: string, kind: CreationKind): Promise<CreationCeremony | null> {
    const stored = await this.store.take(this.registrationKey(userId, kind));
    if (stored === null) return null;
    const [challenge, userHandle = null] = stored.split('.');
    return { challenge: challenge!, userHandle };
  }

  /** Makes a challenge and a random user handle for the account that will have the identifier. */
  async startAccount(identifier: string): Promise<AccountCeremony & { ceremonyId: string }> {
    const ceremonyId = randomUUID();
    const ceremony = { challenge: newChallenge(), userHandle: randomBytes(HANDLE_BYTES).toString('base64url') };
    await this.store.setMany([accountKey(ceremonyId)], this.accountValue(ceremony, identifier), this.ttl);
    return { ceremonyId, ...ceremony };
  }

  /** Returns and removes the ceremony of an account with this identifier, at this guard; null without one. */
  async takeAccount(ceremonyId: string, identifier: string): Promise<AccountCeremony | null> {
    const stored = await this.store.take(accountKey(ceremonyId));
    if (stored === null) return null;
    const { challenge, userHandle } = JSON.parse(stored) as AccountCeremony;
    return stored === this.accountValue({ challenge, userHandle }, identifier) ? { challenge, userHandle } : null;
  }

  /** Makes a challenge for a login with any passkey. */
  async startLogin(): Promise<{ ceremonyId: string; challenge: string }> {
    const [ceremonyId, challenge] = [randomUUID(), newChallenge()];
    await this.store.setMany([loginKey(ceremonyId)], this.ofGuard + challenge, this.ttl);
    return { ceremonyId, challenge };
  }

  /** Returns and removes the challenge of a login ceremony of this guard; null without one. */
  async takeLogin(ceremonyId: string): Promise<string | null> {
    const stored = await this.store.take(loginKey(ceremonyId));
    return stored?.startsWith(this.ofGuard) ? stored.slice(this.ofGuard.length) : null;
  }

  private get ttl(): number {
    return this.realm.options.passkeys.challengeTtl;
  }

  private registrationKey(userId: string, kind: CreationKind): string {
    return `svc:pk:${kind === 'conditional' ? 'cond' : 'reg'}:${this.realm.guard}:${userId}`;
  }

  /** The identifier is personal data, so only its digest is stored. */
  private accountValue({ challenge, userHandle }: AccountCeremony, identifier: string): string {
    return JSON.stringify({ challenge, userHandle, guard: this.realm.guard, identifier: crypto.sha256(identifier) });
  }

  private get ofGuard(): string {
    return `${this.realm.guard}:`;
  }
}

const newChallenge = (): string => randomBytes(CHALLENGE_BYTES).toString('base64url');

const loginKey = (ceremonyId: string): string => `svc:pk:login:${ceremonyId}`;

const accountKey = (ceremonyId: string): string => `svc:pk:account:${ceremonyId}`;
