import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { RoleEnum } from './roles.enum.js';

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.getAllAndOverride<RoleEnum[]>('roles', [context.getClass(), context.getHandler()]);
    if (!roles?.length) {
      return true;
    }
    const request = context.switchToHttp().getRequest();
    return roles.map(String).includes(String(request.user?.role?.id));
  }
}
