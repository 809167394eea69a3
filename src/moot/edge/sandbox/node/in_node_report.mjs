// The reporter that Node's test runner is started with: it hands over what it gets, and prints nothing.
import sink from './in_node_sink.cjs';

export default async function* report(source) {
  for await (const event of source) sink.take(event);
}
