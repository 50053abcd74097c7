import { Args, Mutation, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { Authenticated, CurrentUser } from '@svc/auth';
import { PrismaService } from '../common/prisma/prisma.service.js';
import { User } from '../users/models/user.model.js';
import { PostIdArgs } from './args/post-id.args.js';
import { UserIdArgs } from './args/user-id.args.js';
import { CreatePostInput } from './dto/create-post.input.js';
import { Post } from './models/post.model.js';

@Resolver(() => Post)
export class PostsResolver {
  constructor(private prisma: PrismaService) {}

  @Authenticated()
  @Mutation(() => Post)
  createPost(@CurrentUser() user: User, @Args('data') data: CreatePostInput) {
    return this.prisma.post.create({
      data: {
        published: true,
        title: data.title,
        content: data.content,
        authorId: user.id,
      },
    });
  }

  @Query(() => [Post])
  publishedPosts(@Args({ name: 'query', type: () => String, nullable: true }) query?: string) {
    return this.prisma.post.findMany({
      where: { published: true, title: { contains: query ?? '' } },
      orderBy: { createdAt: 'desc' },
    });
  }

  @Query(() => [Post])
  userPosts(@Args() { userId }: UserIdArgs) {
    return this.prisma.post.findMany({ where: { published: true, author: { id: userId } } });
  }

  @Query(() => Post, { nullable: true })
  post(@Args() { postId }: PostIdArgs) {
    return this.prisma.post.findUnique({ where: { id: postId } });
  }

  @ResolveField('author', () => User, { nullable: true })
  author(@Parent() post: Post) {
    return this.prisma.post.findUnique({ where: { id: post.id } }).author();
  }
}
