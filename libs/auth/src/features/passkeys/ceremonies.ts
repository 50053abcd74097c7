import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';

/** 128 bits, the minimum of WebAuthn Level 3 §13.4.3. */
const CHALLENGE_BYTES = 16;

/** Stores the challenges of WebAuthn ceremonies. Reading a challenge removes it, so each can be used only once. */
@Injectable()
export class Ceremonies {
  constructor(
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {}

  /** Makes a challenge for a new passkey of the user. It replaces the previous one. */
  async startRegistration(userId: string): Promise<string> {
    const challenge = newChallenge();
    await this.store.setMany([this.registrationKey(userId)], challenge, this.ttl);
    return challenge;
  }

  takeRegistration(userId: string): Promise<string | null> {
    return this.store.take(this.registrationKey(userId));
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

  private registrationKey(userId: string): string {
    return `svc:pk:reg:${this.realm.guard}:${userId}`;
  }

  private get ofGuard(): string {
    return `${this.realm.guard}:`;
  }
}

const newChallenge = (): string => randomBytes(CHALLENGE_BYTES).toString('base64url');

const loginKey = (ceremonyId: string): string => `svc:pk:login:${ceremonyId}`;
