import { Controller, Get, Module, Query } from '@nestjs/common';
import { createSecretKey, randomUUID } from 'node:crypto';
import { SpentController } from './counting';
import { ANSWER, SECRET, serve } from './serve';
import { signToken } from './tokens';

const KEY = createSecretKey(Buffer.from(SECRET));

@Controller()
class Routes {
  @Get('empty')
  empty() {
    return ANSWER;
  }

  /** Unchecked tokens with the same length as those of the other applications. */
  @Get('sessions')
  sessions(@Query('count') count: string) {
    return Array.from({ length: Number(count) }, (_, i) => ({
      access_token: signToken(String(i + 1), randomUUID(), KEY),
    }));
  }
}

@Module({ controllers: [Routes, SpentController] })
class EmptyApp {}

void serve(EmptyApp);
