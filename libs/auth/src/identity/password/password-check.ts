import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { PasswordHasher } from './password-hasher';
import type { PasswordVerifier } from '../../foundation/ports/passwords';
import { usable } from './imported/usable-verifier';
import { HashQueue } from './hash-queue';

/**
 * Checks the password that someone tries. Costs one argon2id hash and one of every kind that is imported,
 * whichever its digest is of and whether there is one: a stranger learns neither.
 */
@Injectable()
export class PasswordCheck {
  private readonly verifiers: readonly PasswordVerifier[];

  /** @throws AuthConfigError for a verifier that would not do for the logins it has nothing to do with */
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly queue: HashQueue,
    @Inject(AUTH_CONFIG) { hashing }: AuthConfig,
  ) {
    this.verifiers = hashing.verifiers.map((verifier, i) =>
      usable(verifier, `hashing.verifiers[${i}] does not recognise its own decoy. Give it one that it can verify.`),
    );
  }

  /** @throws HasherBusy where a check would be refused at once */
  admit(): void {
    this.queue.admit();
  }

  /** Whether `password` gives `digest`; false without one. @throws HasherBusy */
  async matches(digest: string | null, password: string): Promise<boolean> {
    const importer = this.verifiers.find((verifier) => digest !== null && verifier.recognises(digest));
    let matches = await this.hasher.verify(importer ? null : digest, password);
    for (const verifier of this.verifiers) {
      const own = verifier === importer;
      const matched = await this.queue.run(() => verified(verifier, own ? digest! : verifier.decoy, password));
      // A NUL ends a password for some bcrypts, and is nothing to HMAC, which pads with it.
      if (own) matches = matched && !password.includes('\0');
    }
    return matches;
  }
}

/** A digest that its library finds unusable is no match. */
async function verified(verifier: PasswordVerifier, digest: string, password: string): Promise<boolean> {
  try {
    return await verifier.verify(digest, password);
  } catch {
    return false;
  }
}
