import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { callHost } from '../../foundation/platform/deadline';
import { isAffordable, preparedPassword, storedHash } from './argon2-hasher';
import { PasswordHasher } from './password-hasher';
import type { PasswordVerifier } from '../../foundation/ports/passwords';
import { usable } from './imported/verifiers';
import { HashQueue } from './hash-queue';

/**
 * Checks a submitted password. Every check computes one argon2id hash and one hash of each imported kind, so that its
 * duration reveals neither the kind of the stored digest nor whether there is one.
 */
@Injectable()
export class PasswordCheck {
  private readonly verifiers: readonly PasswordVerifier[];

  /** @throws AuthConfigError for a verifier that does not recognise its own decoy */
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly queue: HashQueue,
    @Inject(AUTH_CONFIG) { hashing }: AuthConfig,
  ) {
    this.verifiers = hashing.verifiers.map((verifier, i) =>
      usable(verifier, `hashing.verifiers[${i}] does not recognise its own decoy. Give it one that it can verify.`),
    );
  }

  /** @throws HasherBusy if the queue would refuse a check now */
  admit(): void {
    this.queue.admit();
  }

  /**
   * Whether `password` matches `digest`. False for null.
   *
   * @throws HasherBusy; StoreUnavailable if a verifier does not settle in time
   */
  async matches(digest: string | null, password: string): Promise<boolean> {
    const importer = digest === null ? undefined : this.importerOf(digest);
    let matches = await this.hasher.verify(importer ? null : digest, password);
    for (const verifier of this.verifiers) {
      const isImporter = verifier === importer;
      const matched = await this.queue.run(() => verified(verifier, isImporter ? digest! : verifier.decoy, password));
      if (isImporter) matches = matched && isComparedWhole(password);
    }
    return matches;
  }

  /** As {@link acceptsHash}, with the verifiers of `hashing.verifiers`. */
  accepts(digest: string): boolean {
    return acceptsHash(digest, this.verifiers);
  }

  /**
   * Hashes a verified password again. It is prepared as for the former hash, so that the spellings that were accepted stay
   * accepted; by `hashing.normalize` if the former hash is of the password as it was entered.
   *
   * @throws HasherBusy
   */
  async hashAgain(former: string, password: string): Promise<string> {
    const importer = this.importerOf(former);
    const preparation = importer ? importer.preparation?.(former) : storedHash(former)?.preparation;
    return this.hasher.hash(password, preparation?.length ? preparation : undefined);
  }

  /**
   * Whether a text matches a digest, with one hash of the digest's own kind: for recovery codes, whose kind of hash is
   * no secret after the password was verified. False, also after one hash, for a digest that is not accepted.
   *
   * @throws HasherBusy; StoreUnavailable if the verifier does not settle in time
   */
  async matchesOwnKind(digest: string, text: string): Promise<boolean> {
    const importer = this.importerOf(digest);
    if (!importer) return this.hasher.verify(digest, text);
    return (await this.queue.run(() => verified(importer, digest, text))) && isComparedWhole(text);
  }

  private importerOf(digest: string): PasswordVerifier | undefined {
    return importerAmong(this.verifiers, digest);
  }
}

const importerAmong = (verifiers: readonly PasswordVerifier[], digest: string): PasswordVerifier | undefined =>
  verifiers.find((verifier) => verifier.recognises(digest));

/** Whether a digest can be verified: argon2id, argon2i, or of the kind of a verifier, and within its limit of cost. */
export function acceptsHash(digest: string, verifiers: readonly PasswordVerifier[]): boolean {
  const stored = storedHash(digest);
  return importerAmong(verifiers, digest) !== undefined || (stored !== undefined && isAffordable(stored.cost));
}

/** Some bcrypt libraries end a password at a NUL, and HMAC pads its key with NULs, so such passwords never match. */
const isComparedWhole = (password: string): boolean => !password.includes('\0');

/**
 * False if the verifier throws for the digest. A verifier of the host that never settles gives back its place in the queue
 * after the time limit.
 */
function verified(verifier: PasswordVerifier, digest: string, password: string): Promise<boolean> {
  return callHost('a verifier of hashing.verifiers', async () => {
    try {
      return await verifier.verify(digest, preparedPassword(password, verifier.preparation?.(digest) ?? []));
    } catch {
      return false;
    }
  });
}
