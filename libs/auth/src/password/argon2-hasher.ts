import type { HashingOptions } from '../config/auth-options';
import { newSecret } from '../kernel/secrets';
import { type Argon2Library, argon2Library } from './argon2-library';
import { digestCost, isAffordable } from './digest.policy';
import { PasswordHasher } from './password-hasher';
import type { WorkQueue } from './work-queue';

/** Argon2id (RFC 9106) with bounded concurrency. */
export class Argon2Hasher extends PasswordHasher {
  /** Digest of a password nobody knows, at the configured cost: what a login without a user is checked against. */
  private readonly decoy: Promise<string>;

  constructor(
    private readonly options: Required<Pick<HashingOptions, 'memoryCost' | 'timeCost' | 'parallelism'>>,
    private readonly queue: WorkQueue,
    private readonly library: Argon2Library = argon2Library(),
  ) {
    super();
    this.decoy = this.hash(newSecret());
    // A hasher that cannot hash says so to whoever awaits it, and not as an unhandled rejection.
    this.decoy.catch(() => undefined);
  }

  hash(password: string): Promise<string> {
    const { memoryCost, timeCost, parallelism } = this.options;
    return this.queue.run(() => this.library.hash(password, { memoryCost, timeCost, parallelism }));
  }

  async verify(digest: string | null, password: string): Promise<boolean> {
    const cost = digest === null ? undefined : digestCost(digest);
    const usable = cost !== undefined && isAffordable(cost);
    const checked = usable ? digest! : await this.decoy;
    const matches = await this.queue.run(() => this.verified(checked, password));
    return usable && matches;
  }

  /** A digest that only the library finds unusable costs what every other does. */
  private async verified(digest: string, password: string): Promise<boolean> {
    try {
      return await this.library.verify(digest, password);
    } catch {
      await this.library.verify(await this.decoy, password);
      return false;
    }
  }

  needsRehash(digest: string): boolean {
    const cost = digestCost(digest);
    const { memoryCost, timeCost, parallelism } = this.options;
    return cost?.memoryCost !== memoryCost || cost.timeCost !== timeCost || cost.parallelism !== parallelism;
  }
}
