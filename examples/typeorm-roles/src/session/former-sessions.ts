import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { JwtService } from '@nestjs/jwt';
import { InjectRepository } from '@nestjs/typeorm';
import { Auth, AuthEvents, EmailChangeUndone, type SessionTokens } from '@svc/auth';
import type { Repository } from 'typeorm';
import authConfig from '../auth/config/auth.config.js';
import type { UserEntity } from '../users/entities/user.entity.js';
import { SessionEntity } from './session.entity.js';

/** Exchanges the refresh tokens that the application issued before, so that its users stay signed in. */
@Injectable()
export class FormerSessions {
  constructor(
    @InjectRepository(SessionEntity)
    private readonly sessions: Repository<SessionEntity>,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
    private readonly jwtService: JwtService,
    private readonly auth: Auth,
    events: AuthEvents,
  ) {
    // The request does not name the user.
    events.on(EmailChangeUndone, ({ userId }) => this.endAll(Number(userId)));
  }

  /** A session of the library for a former refresh token; null for any other text. Of two requests with one token, one gets it. */
  async exchange(refreshToken: string): Promise<SessionTokens | null> {
    const secret = this.config.formerRefreshSecret;
    if (!secret || refreshToken.split('.').length !== 3) {
      return null;
    }
    const former = await this.jwtService
      .verifyAsync<{ sessionId: number; hash: string }>(refreshToken, { secret, algorithms: ['HS256'] })
      .catch(() => null);
    if (!former) {
      return null;
    }
    const { sessionId: id, hash } = former;
    // If the session cannot be started, the former one stays.
    return this.auth.transaction(async (manager) => {
      const { raw } = await manager
        .createQueryBuilder()
        .softDelete()
        .from(SessionEntity)
        .where('id = :id AND hash = :hash AND "deletedAt" IS NULL', { id, hash })
        .returning('"userId"')
        .execute();
      return raw.length > 0 ? this.auth.startSession(raw[0].userId, { label: 'exchanged' }) : null;
    });
  }

  /**
   * Ends all sessions of a user. The former ones end first: so a session that one of them was exchanged for meanwhile ends, too.
   *
   * @param kept the session that stays, if any
   */
  async endAll(userId: UserEntity['id'], kept?: string | null): Promise<void> {
    await this.sessions.softDelete({ user: { id: userId } });
    await (kept ? this.auth.revokeOthers(userId, kept) : this.auth.revokeAll(userId));
  }
}
