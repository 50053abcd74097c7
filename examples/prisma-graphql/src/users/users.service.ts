import { Injectable } from '@nestjs/common';
import { type CallSource, PasswordChangeFlow } from '@svc/auth';
import type { GraphQLError } from 'graphql';
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
    await this.passwordChange
      .change({ currentPassword: oldPassword, password: newPassword }, req)
      .catch(inNamesOfInput);

    return this.prisma.user.findUnique({ where: { id: userId } });
  }
}

/** Throws a refusal with the names that its fields have in `ChangePasswordInput`. */
function inNamesOfInput(error: Partial<GraphQLError>): never {
  const { extensions } = error;
  // A refusal of a server call has the texts by field in its extensions.
  if (extensions?.errors) {
    const { current_password: oldPassword, password: newPassword, ...others } = extensions.errors as Texts;
    extensions.errors = { oldPassword, newPassword, ...others };
  }
  throw error;
}

type Texts = Record<string, string[]>;
