import { Injectable } from '@nestjs/common';
import { type CallSource, PasswordChangeFlow } from '@svc/auth';
import { PrismaService } from '../common/prisma/prisma.service.js';
import type { ChangePasswordInput } from './dto/change-password.input.js';
import type { UpdateUserInput } from './dto/update-user.input.js';

@Injectable()
export class UsersService {
  constructor(
    private prisma: PrismaService,
    private passwordChange: PasswordChangeFlow,
  ) {}

  updateUser(userId: string, newUserData: UpdateUserInput) {
    return this.prisma.user.update({
      data: newUserData,
      where: { id: userId },
    });
  }

  async changePassword(userId: string, { oldPassword, newPassword }: ChangePasswordInput, req: CallSource) {
    await this.passwordChange.change({ currentPassword: oldPassword, password: newPassword }, req);

    return this.prisma.user.findUnique({ where: { id: userId } });
  }
}
