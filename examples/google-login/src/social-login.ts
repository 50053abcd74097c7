import { ConflictException, ForbiddenException, Injectable } from '@nestjs/common';
import { Auth, type SessionTokens } from '@svc/auth';
import { DataSource } from 'typeorm';
import { Identity } from './identity.js';
import { User } from './users.js';

/** Of a verified ID token: `iss`, `sub`, `email`, `email_verified`, `name`. */
export interface Profile {
  provider: string;
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string;
}

@Injectable()
export class SocialLogin {
  constructor(
    private readonly auth: Auth,
    private readonly database: DataSource,
  ) {}

  async signIn(profile: Profile): Promise<SessionTokens> {
    const { provider, subject } = profile;
    // TypeORM 0.3 ignores a condition on a missing subject, and would find the account of another person.
    if (!provider || !subject) throw new ForbiddenException('The provider has not named its user.');
    const known = await this.database.manager.findOneBy(Identity, { provider, subject });
    const userId = known?.userId ?? (await this.register(profile));
    return this.auth.startSession(userId, { label: provider });
  }

  private async register({ provider, subject, email, emailVerified, name }: Profile): Promise<string> {
    if (!emailVerified) throw new ForbiddenException('Verify your email at the provider first.');
    try {
      return await this.database.transaction(async (manager) => {
        const { id } = await manager.save(manager.create(User, { email, name, emailVerifiedAt: new Date() }));
        await manager.insert(Identity, { provider, subject, userId: id });
        return id;
      });
    } catch (error) {
      if ((error as { code?: string }).code !== '23505') throw error;
      // The same person in another tab, or an account with this address that was never linked.
      const known = await this.database.manager.findOneBy(Identity, { provider, subject });
      if (known) return known.userId;
      throw new ConflictException('Sign in with your password, then link the provider.');
    }
  }
}
