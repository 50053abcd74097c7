import {
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  type ModuleMetadata,
  Param,
  Post,
  Query,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { InjectRepository } from '@nestjs/typeorm';
import { verify as nodeRs } from '@node-rs/argon2';
import { verify as argon2 } from 'argon2';
import { type Secret, sign } from 'jsonwebtoken';
import { createHash, randomBytes } from 'node:crypto';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { Repository } from 'typeorm';
import { StoredToken, User } from './hand-rolled.entities';
import { ANSWER, type Tokens } from './serve';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const inThirtyDays = (): Date => new Date(Date.now() + 30 * 86_400_000);
const verifiers: Record<string, (digest: string, password: string) => Promise<boolean>> = { argon2, 'node-rs': nodeRs };

/**
 * Hand-written authentication: passport-jwt and TypeORM repositories, as in their guides.
 *
 * It has no denylist, no reuse detection, no row lock and no decoy hash, and saves their cost.
 *
 * @param name route prefix and strategy name
 * @param key the HS256 secret: a string as in the guides, or a KeyObject as jsonwebtoken recommends
 */
export function handRolled(name: string, key: Secret): Required<Pick<ModuleMetadata, 'controllers' | 'providers'>> {
  @Injectable()
  class JwtStrategy extends PassportStrategy(Strategy, name) {
    constructor(@InjectRepository(User) private readonly users: Repository<User>) {
      // The type of passport-jwt does not allow a KeyObject. jsonwebtoken accepts it.
      super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: key as string });
    }

    async validate({ sub }: { sub: string }): Promise<User> {
      const user = await this.users.findOneBy({ id: Number(sub) });
      if (!user) throw new UnauthorizedException();
      return user;
    }
  }

  @Controller(name)
  class Routes {
    constructor(
      @InjectRepository(User) private readonly users: Repository<User>,
      @InjectRepository(StoredToken) private readonly tokens: Repository<StoredToken>,
    ) {}

    @Get('guarded')
    @UseGuards(AuthGuard(name))
    guarded() {
      return ANSWER;
    }

    @Post('refresh')
    @HttpCode(200)
    async refresh(@Body() { refresh_token }: { refresh_token: string }): Promise<Tokens> {
      const stored = await this.tokens.findOneBy({ tokenHash: sha256(refresh_token) });
      if (!stored || stored.expiresAt <= new Date()) throw new UnauthorizedException();
      await this.tokens.delete(stored.id);
      return this.issue(stored.userId);
    }

    @Post('login/:library')
    @HttpCode(200)
    async login(
      @Param('library') library: string,
      @Body() { email, password }: { email: string; password: string },
    ): Promise<Tokens> {
      const user = await this.users.findOneBy({ email });
      if (!user?.passwordHash || !(await verifiers[library]!(user.passwordHash, password)))
        throw new UnauthorizedException();
      return this.issue(user.id);
    }

    /** Sessions of the first users, without a password hash for each. */
    @Get('sessions')
    sessions(@Query('count') count: string): Promise<Tokens[]> {
      return Promise.all(Array.from({ length: Number(count) }, (_, i) => this.issue(i + 1)));
    }

    private async issue(userId: number): Promise<Tokens> {
      const refreshToken = randomBytes(32).toString('hex');
      await this.tokens.insert({ userId, tokenHash: sha256(refreshToken), expiresAt: inThirtyDays() });
      const access = sign({ sub: String(userId) }, key, { algorithm: 'HS256', expiresIn: 900 });
      return { access_token: access, refresh_token: refreshToken };
    }
  }
  return { controllers: [Routes], providers: [JwtStrategy] };
}
