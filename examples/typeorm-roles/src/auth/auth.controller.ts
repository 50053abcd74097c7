import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Req,
  SerializeOptions,
  UseGuards,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { CurrentUser } from '@svc/auth';
import type { Request } from 'express';
import { UserEntity } from '../users/entities/user.entity.js';
import type { NullableType } from '../utils/nullable.type.js';
import { AuthService } from './auth.service.js';
import { AuthConfirmEmailDto } from './dto/auth-confirm-email.dto.js';
import { AuthEmailLoginDto } from './dto/auth-email-login.dto.js';
import { AuthForgotPasswordDto } from './dto/auth-forgot-password.dto.js';
import { AuthRegisterLoginDto } from './dto/auth-register-login.dto.js';
import { AuthResetPasswordDto } from './dto/auth-reset-password.dto.js';
import { AuthUpdateDto } from './dto/auth-update.dto.js';
import type { LoginResponseDto, RefreshResponseDto } from './dto/login-response.dto.js';

@Controller({ path: 'auth', version: '1' })
export class AuthController {
  constructor(private readonly service: AuthService) {}

  @SerializeOptions({ groups: ['me'] })
  @Post('email/login')
  @HttpCode(HttpStatus.OK)
  login(@Body() loginDto: AuthEmailLoginDto, @Req() request: Request): Promise<LoginResponseDto> {
    return this.service.validateLogin(loginDto, request);
  }

  @Post('email/register')
  @HttpCode(HttpStatus.NO_CONTENT)
  register(@Body() createUserDto: AuthRegisterLoginDto, @Req() request: Request): Promise<void> {
    return this.service.register(createUserDto, request);
  }

  @Post('email/confirm')
  @HttpCode(HttpStatus.NO_CONTENT)
  confirmEmail(@Body() confirmEmailDto: AuthConfirmEmailDto, @Req() request: Request): Promise<void> {
    return this.service.confirmEmail(confirmEmailDto.hash, request);
  }

  @Post('email/confirm/new')
  @HttpCode(HttpStatus.NO_CONTENT)
  confirmNewEmail(@Body() confirmEmailDto: AuthConfirmEmailDto, @Req() request: Request): Promise<void> {
    return this.service.confirmNewEmail(confirmEmailDto.hash, request);
  }

  @Post('email/undo')
  @HttpCode(HttpStatus.NO_CONTENT)
  undoNewEmail(@Body() confirmEmailDto: AuthConfirmEmailDto, @Req() request: Request): Promise<void> {
    return this.service.undoNewEmail(confirmEmailDto.hash, request);
  }

  @Post('forgot/password')
  @HttpCode(HttpStatus.NO_CONTENT)
  forgotPassword(@Body() forgotPasswordDto: AuthForgotPasswordDto, @Req() request: Request): Promise<void> {
    return this.service.forgotPassword(forgotPasswordDto.email, request);
  }

  @Post('reset/password')
  @HttpCode(HttpStatus.NO_CONTENT)
  resetPassword(@Body() resetPasswordDto: AuthResetPasswordDto, @Req() request: Request): Promise<void> {
    return this.service.resetPassword(resetPasswordDto.hash, resetPasswordDto.password, request);
  }

  @SerializeOptions({ groups: ['me'] })
  @Get('me')
  @UseGuards(AuthGuard('jwt'))
  me(@CurrentUser() user: UserEntity): UserEntity {
    return user;
  }

  @Post('refresh')
  @HttpCode(HttpStatus.OK)
  refresh(@Req() request: Request): Promise<RefreshResponseDto> {
    return this.service.refreshToken(request);
  }

  @Post('logout')
  @UseGuards(AuthGuard('jwt'))
  @HttpCode(HttpStatus.NO_CONTENT)
  logout(@Req() request: Request): Promise<void> {
    return this.service.logout(request);
  }

  @SerializeOptions({ groups: ['me'] })
  @Patch('me')
  @UseGuards(AuthGuard('jwt'))
  update(
    @CurrentUser() user: UserEntity,
    @Body() userDto: AuthUpdateDto,
    @Req() request: Request,
  ): Promise<NullableType<UserEntity>> {
    return this.service.update(user, userDto, request);
  }

  @Delete('me')
  @UseGuards(AuthGuard('jwt'))
  @HttpCode(HttpStatus.NO_CONTENT)
  delete(@CurrentUser() user: UserEntity): Promise<void> {
    return this.service.softDelete(user.id);
  }
}
