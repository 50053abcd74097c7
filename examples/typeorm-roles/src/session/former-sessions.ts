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
    const { raw } = await this.sessions
      .createQueryBuilder()
      .softDelete()
      .where('id = :id AND hash = :hash AND "deletedAt" IS NULL', { id, hash })
      .returning('"userId"')
      .execute();
    if (raw.length === 0) {
      return null;
    }
    try {
      return await this.auth.startSession(raw[0].userId, { label: 'exchanged' });
    } catch (error) {
      await this.sessions.restore(id);
      throw error;
    }
  }

  async endAll(userId: UserEntity['id']): Promise<void> {
    await this.sessions.softDelete({ user: { id: userId } });
  }
}
