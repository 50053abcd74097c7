// The work of `bare.ts` on one pipelined connection, behind ordinary guards and controllers of Nest.
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Query,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { BareSessions } from './bare-sessions';
import { SpentController } from './counting';
import { ANSWER, type Tokens, serve } from './serve';
import { ACCESS_TTL } from './tokens';

@Injectable()
class LeanGuard implements CanActivate {
  constructor(private readonly sessions: BareSessions) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<IncomingMessage & { user: unknown }>();
    const user = await this.sessions.authenticate(request.headers.authorization);
    if (!user) throw new UnauthorizedException();
    request.user = user;
    return true;
  }
}

/** One limit for the address of the client, as an ordinary throttler counts it. */
@Injectable()
class RefreshLimiter implements CanActivate {
  constructor(private readonly sessions: BareSessions) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.sessions.count(context.switchToHttp().getRequest<{ ip: string }>().ip);
    return true;
  }
}

@Controller()
class Routes {
  constructor(private readonly sessions: BareSessions) {}

  @Get('guarded')
  @UseGuards(LeanGuard)
  guarded() {
    return ANSWER;
  }

  @Post('refresh')
  @HttpCode(200)
  @UseGuards(RefreshLimiter)
  async refresh(@Body() { refresh_token: token }: Pick<Tokens, 'refresh_token'>) {
    const tokens = typeof token === 'string' ? await this.sessions.refresh(token) : undefined;
    if (!tokens) throw new UnauthorizedException();
    return { ...tokens, token_type: 'Bearer', expires_in: ACCESS_TTL };
  }

  @Get('sessions')
  start(@Query('count') count: string) {
    return this.sessions.start(Number(count));
  }
}

@Module({
  controllers: [Routes, SpentController],
  providers: [{ provide: BareSessions, useFactory: () => BareSessions.open('pipelined') }],
})
class LeanApp {}

void serve(LeanApp);
