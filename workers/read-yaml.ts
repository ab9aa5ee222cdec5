import { type YamlJson, yamlToJson } from '../src/text/yaml-json.ts';

/** Reads a long YAML text. Nothing but the end of the thread interrupts it. */
export default async function readYaml({ text }: { readonly text: string }): Promise<YamlJson> {
  return yamlToJson(text);
}
