import { UseGuards } from '@nestjs/common';
import { Args, Context, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { Authenticated, type CallSource, CurrentUser } from '@svc/auth';
import { RolesGuard } from '../auth/roles.guard.js';
import { Roles } from '../common/decorators/roles.decorator.js';
import { PrismaService } from '../common/prisma/prisma.service.js';
import { Role } from '../generated/client.js';
import { Post } from '../posts/models/post.model.js';
import { ChangePasswordInput } from './dto/change-password.input.js';
import { UpdateUserInput } from './dto/update-user.input.js';
import { User } from './models/user.model.js';
import { UsersService } from './users.service.js';

@Resolver(() => User)
export class UsersResolver {
  constructor(
    private usersService: UsersService,
    private prisma: PrismaService,
  ) {}

  @Authenticated()
  @Query(() => User)
  me(@CurrentUser() user: User): User {
    return user;
  }

  @Roles(Role.ADMIN)
  @UseGuards(RolesGuard)
  @Authenticated()
  @Query(() => [User])
  users() {
    return this.prisma.user.findMany({ orderBy: { createdAt: 'asc' } });
  }

  @Authenticated()
  @Mutation(() => User)
  updateUser(@CurrentUser() user: User, @Args('data') newUserData: UpdateUserInput) {
    return this.usersService.updateUser(user.id, newUserData);
  }

  @Authenticated()
  @Mutation(() => User)
  changePassword(
    @CurrentUser() user: User,
    @Args('data') changePassword: ChangePasswordInput,
    @Context('req') req: CallSource,
  ) {
    return this.usersService.changePassword(user.id, changePassword, req);
  }

  @ResolveField('posts', () => [Post])
  posts(@Parent() author: User) {
    return this.prisma.user.findUnique({ where: { id: author.id } }).posts({ where: { published: true } });
  }
}
