import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';

/** 128 bits, as WebAuthn Level 3 §13.4.3 asks for at least. */
const CHALLENGE_BYTES = 16;

/** Challenges that wait for their answer. Each is read once: reading removes it, whatever comes of the answer. */
@Injectable()
export class Ceremonies {
  constructor(
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {}

  /** A challenge for a new passkey of the user; it replaces the one before. */
  async startRegistration(userId: string): Promise<string> {
    const challenge = newChallenge();
    await this.store.setMany([this.registrationKey(userId)], challenge, this.ttl);
    return challenge;
  }

  takeRegistration(userId: string): Promise<string | null> {
    return this.store.take(this.registrationKey(userId));
  }

  /** A challenge for whoever has a passkey. */
  async startLogin(): Promise<{ ceremonyId: string; challenge: string }> {
    const [ceremonyId, challenge] = [randomUUID(), newChallenge()];
    await this.store.setMany([loginKey(ceremonyId)], this.ofGuard + challenge, this.ttl);
    return { ceremonyId, challenge };
  }

  /** The challenge of a login that started at this guard; null for any other. */
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
