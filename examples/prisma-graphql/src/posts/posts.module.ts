import { Module } from '@nestjs/common';
import { PostsResolver } from './posts.resolver.js';

@Module({
  providers: [PostsResolver],
})
export class PostsModule {}
