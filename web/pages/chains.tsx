import { useParams } from 'wouter';
import { fileOfPath } from '../data/document-path.ts';
import { ChainPage } from '../chains/chain.tsx';
import { ChainList } from '../chains/list.tsx';

export function ChainsPage() {
  const { file } = useParams();
  return file === undefined ? <ChainList /> : <ChainPage key={file} file={fileOfPath(file)} />;
}
