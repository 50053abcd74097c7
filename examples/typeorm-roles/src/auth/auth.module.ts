import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AuthModule as TokenAuthModule } from '@svc/auth';
import { SessionModule } from '../session/session.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthExceptionFilter } from '../utils/auth-exception.filter.js';
import { AuthController } from './auth.controller.js';
import { authOptions } from './auth.options.js';
import { AuthService } from './auth.service.js';

@Module({
  imports: [UsersModule, SessionModule, TokenAuthModule.forRootAsync(authOptions)],
  controllers: [AuthController],
  providers: [AuthService, { provide: APP_FILTER, useClass: AuthExceptionFilter }],
  exports: [AuthService],
})
export class AuthModule {}
